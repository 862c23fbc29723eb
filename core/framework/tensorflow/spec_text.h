#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/strategy/all_reduce_spec.h"

namespace tutti::core {

/// A problem in the text of a spec. `at` is the index of a character, counted from 0.
struct SpecTextProblem {
  std::size_t at = 0;
  std::string text;
};

/// A parsed spec. Omitted values have TensorFlow's defaults. The parser does not check the names of
/// algorithms, the order of entries, or the values of limits.
struct SpecText {
  std::vector<SpecEntry> entries;
  SpecApi api = SpecApi::kMultiWorkerAllReduce;
  std::vector<std::size_t> places;  ///< index of each entry's first character in the text
};

/// Parses a spec in one of two forms:
/// - tf_cnn_benchmarks' form, for example "pscpu#2:64k:xring". An entry is the name of an
///   algorithm, which may be followed by '#' and a number of shards. Each entry except the last is
///   followed by ':', the limit of the entry, and ':'. A limit may end with k, K, M, G or T (powers
///   of 1024). The text does not state the unit of limits (AllReduceSpec::limit_unit).
/// - the Python argument of MultiWorkerAllReduce: a string, a tuple (algorithm, shards, limit)
///   whose last one or two elements may be omitted, a list of such tuples, or None, which means an
///   empty list.
/// A text that begins with a quote, a bracket or a parenthesis is read as Python.
/// SOURCE: benchmarks' parse_all_reduce_spec; cross_device_ops.py, MultiWorkerAllReduce.__init__.
tl::expected<SpecText, SpecTextProblem> parse_spec(std::string_view text);

}  // namespace tutti::core
