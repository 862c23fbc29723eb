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
/// - tf_cnn_benchmarks' form: entries algorithm['#'shards], separated by ':' limit ':'. A limit may
///   end with k, K, M, G or T (powers of 1024). AllReduceSpec::limit_unit, which the text does not
///   state, is the unit of limits. The last entry has no limit.
/// - the Python argument of MultiWorkerAllReduce: a string, a tuple (algorithm, shards, limit)
///   whose last one or two elements may be omitted, a list of such tuples, or None, which means an
///   empty list.
/// A text that begins with a quote, a bracket or a parenthesis is read as Python.
/// SOURCE: benchmarks' parse_all_reduce_spec; cross_device_ops.py, MultiWorkerAllReduce.__init__.
tl::expected<SpecText, SpecTextProblem> parse_spec(std::string_view text);

}  // namespace tutti::core
