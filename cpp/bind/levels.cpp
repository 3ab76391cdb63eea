// The levels of a column for Python, kept as bytes while batches are counted.
#include <Python.h>
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bind/arguments.hpp"
#include "bind/buffer.hpp"
#include "bind/documents.hpp"
#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "core/exact_array.hpp"
#include "table/level_dictionary.hpp"

namespace bayesbox {
namespace {

// A dictionary that threads share: they wait for each other without the GIL, which a poll within a call may need.
class SharedLevels {
 public:
  std::int64_t size() {
    const Turn turn(*this);
    return static_cast<std::int64_t>(levels_.size());
  }

  nb::object codes(nb::handle letters, nb::handle offsets) {
    const Texts given(letters, offsets);
    std::vector<std::int64_t> found;
    {
      const Turn turn(*this);
      found = levels_.codes(given.letters(), given.places());
    }
    return to_numpy(std::move(found));
  }

  nb::object codes_of(SharedLevels& other) {
    std::vector<std::int64_t> found;
    {
      const Turn turn(*this, other);
      found = levels_.codes(other.levels_, other.levels_.size());
    }
    return to_numpy(std::move(found));
  }

  // The sum of cells by this dictionary and of what was counted by other texts, which stand one after another.
  ExactArray sum(const ExactArray& cells, nb::handle letters, nb::handle offsets, const ExactArray& counted,
                 std::int64_t classes) {
    const Texts given(letters, offsets);
    const std::size_t width = need_width(classes), levels = given.places().empty() ? 0 : given.places().size() - 1;
    if (counted.size() % width != 0 || counted.size() / width != levels)
      throw nb::value_error("counted: there must be one cell per level and class");
    const Turn turn(*this);
    need_cells(cells, width, "cells");
    return levels_.sum(cells, levels_.codes(given.letters(), given.places()), counted, width);
  }

  // The same of what was counted by another dictionary.
  ExactArray sum_of(const ExactArray& cells, SharedLevels& other, const ExactArray& counted, std::int64_t classes) {
    const std::size_t width = need_width(classes);
    const Turn turn(*this, other);
    need_cells(cells, width, "cells");
    other.need_cells(counted, width, "counted");
    return levels_.sum(cells, levels_.codes(other.levels_, counted.size() / width), counted, width);
  }

  nb::object sorted(nb::handle codes) {
    std::vector<std::int64_t> found = Buffer(codes, "codes").need_dimensions(1).need_integer().integers();
    {
      const Turn turn(*this);
      need_codes(found);
      levels_.sort(found);
    }
    return to_numpy(std::move(found));
  }

  nb::list texts(nb::handle codes) {
    const std::vector<std::int64_t> wanted = Buffer(codes, "codes").need_dimensions(1).need_integer().integers();
    std::string letters;
    std::vector<std::size_t> ends;
    {
      const Turn turn(*this);
      need_codes(wanted);
      for (const std::int64_t code : wanted) {
        letters += levels_.level(static_cast<std::size_t>(code));
        ends.push_back(letters.size());
      }
    }
    nb::list found;
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      PyObject* const text = PyUnicode_DecodeUTF8(letters.data() + begin, static_cast<Py_ssize_t>(end - begin), nullptr);
      if (text == nullptr) throw nb::python_error();
      found.append(nb::steal(text));
      begin = end;
    }
    return found;
  }

 private:
  // The dictionaries of a call, without the GIL: released first and taken last, so that no thread waits for both.
  class Turn {
   public:
    explicit Turn(SharedLevels& one) : first_(one.mutex_) {}
    Turn(SharedLevels& one, SharedLevels& other)
        : first_(one.mutex_, std::defer_lock), second_(other.mutex_, std::defer_lock) {
      if (&one == &other)
        first_.lock();
      else
        std::lock(first_, second_);
    }

   private:
    LongCall call_;
    std::unique_lock<std::mutex> first_, second_;
  };

  class Texts {
   public:
    Texts(nb::handle letters, nb::handle offsets) : given_(letters, offsets) {}
    const std::vector<std::int64_t>& places() const { return given_.documents.offsets; }
    std::string_view letters() const {
      const std::size_t size = places().empty() ? 0 : static_cast<std::size_t>(places().back());
      return {reinterpret_cast<const char*>(given_.documents.bytes), size};
    }

   private:
    DocumentArguments given_;
  };

  static std::size_t need_width(std::int64_t classes) {
    const std::size_t width = as_size(classes, "classes");
    if (width == 0) throw nb::value_error("classes: needed");
    return width;
  }
  void need_cells(const ExactArray& cells, std::size_t width, const char* name) const {
    if (cells.size() % width != 0 || cells.size() / width > levels_.size())
      throw nb::value_error((std::string(name) + ": there must be no more than one per level and class").c_str());
  }
  void need_codes(const std::vector<std::int64_t>& codes) const {
    for (const std::int64_t code : codes)
      if (code < 0 || static_cast<std::size_t>(code) >= levels_.size())
        throw nb::value_error("codes: there is no such level");
  }

  std::mutex mutex_;
  LevelDictionary levels_;
};

}  // namespace

void register_levels(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<SharedLevels>(m, "LevelDictionary")
      .def(nb::init<>())
      .def("__len__", &SharedLevels::size)
      .def("codes", &SharedLevels::codes, "letters"_a, "offsets"_a)
      .def("codes_of", &SharedLevels::codes_of, "other"_a)
      .def("sum", &SharedLevels::sum, "cells"_a, "letters"_a, "offsets"_a, "counted"_a, "classes"_a)
      .def("sum_of", &SharedLevels::sum_of, "cells"_a, "other"_a, "counted"_a, "classes"_a)
      .def("sorted", &SharedLevels::sorted, "codes"_a)
      .def("texts", &SharedLevels::texts, "codes"_a);
}

}  // namespace bayesbox
