// The texts that are flags.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace bayesbox {

// 0 or 1, whatever the case of the letters; nothing for a text that is not a flag.
inline std::optional<int> flag_of_text(std::string_view text) {
  char lower[6] = {};
  if (text.size() > 5) return std::nullopt;
  for (std::size_t k = 0; k < text.size(); ++k)
    lower[k] = text[k] >= 'A' && text[k] <= 'Z' ? static_cast<char>(text[k] + 32) : text[k];
  const std::string_view found(lower, text.size());
  if (found == "0" || found == "false") return 0;
  if (found == "1" || found == "true") return 1;
  return std::nullopt;
}

}  // namespace bayesbox
