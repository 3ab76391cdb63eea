// Arrays of every element type, in one unit: nanobind's templates take long to compile.
#include "bind/result_array.hpp"

#include <nanobind/ndarray.h>

namespace bayesbox {

template <class T>
nanobind::object array_over(T* memory, std::initializer_list<std::size_t> shape, const nanobind::capsule& owner) {
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(memory, shape, owner));
}

#define BAYESBOX_ARRAY_OF(T) \
  template nanobind::object array_over(T*, std::initializer_list<std::size_t>, const nanobind::capsule&)
BAYESBOX_ARRAY_OF(std::int8_t);
BAYESBOX_ARRAY_OF(std::int16_t);
BAYESBOX_ARRAY_OF(std::int32_t);
BAYESBOX_ARRAY_OF(std::int64_t);
BAYESBOX_ARRAY_OF(std::uint8_t);
BAYESBOX_ARRAY_OF(std::uint16_t);
BAYESBOX_ARRAY_OF(std::uint32_t);
BAYESBOX_ARRAY_OF(std::uint64_t);
BAYESBOX_ARRAY_OF(double);
#undef BAYESBOX_ARRAY_OF

}  // namespace bayesbox
