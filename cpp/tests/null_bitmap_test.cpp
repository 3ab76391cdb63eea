#include "table/null_bitmap.hpp"

#include "test.hpp"

namespace bayesbox::test {
namespace {

TEST(holes_at_every_offset_and_length) {
  std::mt19937_64 random(29);
  for (int round = 0; round < 400; ++round) {
    const std::size_t count = random() % 200, offset = random() % 70;
    // Exactly as many bytes as the bits need: a read behind them is caught by the sanitizers.
    std::vector<std::uint8_t> bitmap((offset + count + 7) / 8);
    for (auto& byte : bitmap) byte = static_cast<std::uint8_t>(round % 3 == 0 ? 255 : random());
    std::vector<std::uint16_t> values(count);
    for (auto& value : values) value = static_cast<std::uint16_t>(random());
    std::vector<std::int32_t> out(count);
    fill_holes<std::uint16_t>(reinterpret_cast<const char*>(values.data()), count, bitmap.data(), bitmap.size(), offset, -1, out.data());
    for (std::size_t i = 0; i < count; ++i) {
      const bool present = bitmap[(offset + i) / 8] >> ((offset + i) % 8) & 1;
      CHECK(out[i] == (present ? values[i] : -1));
    }
  }
}

}  // namespace
}  // namespace bayesbox::test
