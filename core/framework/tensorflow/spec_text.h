#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/strategy/all_reduce_spec.h"

namespace tutti::core {

/// What is wrong with a text, and with which of its characters, counted from 0.
struct SpecTextProblem {
  std::size_t at = 0;
  std::string text;
};

/// A spec as TensorFlow completes it: names, order and limits are not looked at.
struct SpecText {
  std::vector<SpecEntry> entries;
  SpecApi api = SpecApi::kMultiWorkerAllReduce;
  std::vector<std::size_t> places;  ///< by entry: where it begins in the text
};

/// Reads either of:
/// - tf_cnn_benchmarks' form: algorithm['#'shards], then ':' limit ':' and the next, and so on. Limits may end in k or K, M, G or
///   T, powers of 1024. The last has none.
/// - what MultiWorkerAllReduce is given in Python, and nothing else of Python: a string, a tuple (algorithm, shards, limit)
///   of which the last one or two may be left out, a list of such tuples, or None, which is a list of nothing.
/// What begins with a quote, a bracket or a parenthesis is Python.
/// SOURCE: benchmarks' parse_all_reduce_spec; cross_device_ops.py, MultiWorkerAllReduce.__init__.
tl::expected<SpecText, SpecTextProblem> parse_spec(std::string_view text);

}  // namespace tutti::core
