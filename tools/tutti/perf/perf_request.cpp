#include "tools/tutti/perf/perf_request.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/ranges.h>

#include "core/base/quantity.h"
#include "core/measured/nccl_tests.h"
#include "tools/tutti/join.h"

namespace tutti::tools {
namespace {

using core::Expected;
using core::ProblemCode;

/// Parses a size as nccl-tests does, with powers of 1024 ("8", "64K", "128M", "1G"), or a size with
/// a unit ("25MiB").
std::optional<std::int64_t> parse_size(const std::string& written) {
  if (const auto size = core::in_unit_of("bytes", written); size && *size) {
    const double bytes = **size;
    const bool fits = bytes >= 0 && bytes <= 0x1p44 && bytes == std::floor(bytes);
    return fits ? std::optional(static_cast<std::int64_t>(bytes)) : std::nullopt;
  }
  std::int64_t number = 0;
  const char* const end = written.data() + written.size();
  const auto [stop, status] = std::from_chars(written.data(), end, number);
  if (status != std::errc() || number < 0 || end - stop > 1) return std::nullopt;
  const char unit = stop == end ? ' ' : *stop;
  const int shift = unit == ' '                  ? 0
                    : unit == 'K' || unit == 'k' ? 10
                    : unit == 'M'                ? 20
                    : unit == 'G'                ? 30
                                                 : -1;
  constexpr std::int64_t kMax = std::int64_t{1} << 44;
  if (shift < 0 || number > kMax >> shift) return std::nullopt;
  return number << shift;
}

/// Parses a type by its name in Tutti or in nccl-tests.
std::optional<core::DataType> parse_type(const std::string& name) {
  constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
      {"float", "float32"}, {"double", "float64"}, {"half", "float16"}, {"bfloat16", "bfloat16"},
      {"bf16", "bfloat16"}, {"fp16", "float16"},   {"fp32", "float32"}, {"fp64", "float64"}};
  for (const auto& [other, ours] : kOtherNames) {
    if (name == other) return core::parse_data_type(ours);
  }
  return core::parse_data_type(name);
}

/// Parses the name of an operation in nccl-tests.
std::optional<core::Reduction> parse_op(const std::string& name) {
  if (name == "sum") return core::Reduction::kSum;
  if (name == "prod") return core::Reduction::kProduct;
  if (name == "max") return core::Reduction::kMax;
  if (name == "min") return core::Reduction::kMin;
  if (name == "avg") return core::Reduction::kMean;
  return std::nullopt;
}

/// Returns the first of these options that the user has given; nullopt if the user has given none
/// of them.
std::optional<std::string> first_given(const PerfOptions& options) {
  const JoinOptions& join = options.real.join;
  const std::pair<const char*, bool> all[] = {
      {"--transport", !options.real.transport.empty()},
      {"--streams", options.real.streams.has_value()},
      {"--timeout-seconds", options.real.timeout_seconds.has_value()},
      {"--listen", !join.listen.empty()},
      {"--secret-file", !join.secret_file.empty()},
      {"--rendezvous", !join.rendezvous.empty()},
      {"--launcher", join.launcher != JoinOptions().launcher},
      {"--tls", !join.tls.empty()},
      {"--integrity", options.real.integrity},
      {"--worker-network", !options.real.worker_networks.empty()},
      {"--wait-seconds", join.wait_seconds.has_value()}};
  for (const auto& [option, given] : all) {
    if (given) return option;
  }
  return std::nullopt;
}

/// Reads from the options which collective to measure, its root, and whether to measure in place,
/// out of place or both.
Expected<void> read_collective(const PerfOptions& options, PerfRequest& request) {
  std::string name = options.collective;
  std::replace(name.begin(), name.end(), '-', '_');  // as tutti synthesize writes names
  const auto kind = core::parse_collective(name);
  if (!kind) {
    std::vector<std::string> names;
    for (const core::CollectiveKind known : core::collective_kinds())
      names.emplace_back(to_string(known));
    return refused({ProblemCode::kUnknownName, "--collective"},
                   "--collective {}: expected one of {}{}", options.collective,
                   fmt::join(names, ", "), core::did_you_mean(options.collective, names));
  }
  request.what.collective = *kind;
  if (options.root && !core::has_root(*kind))
    return refused({ProblemCode::kUnused, "-r"}, "-r: {} has no root; remove -r",
                   options.collective);
  request.what.root = static_cast<core::Rank>(
      std::clamp<std::int64_t>(options.root.value_or(0), -1, core::kMaxRanks));
  if (!core::reduces(*kind) && request.what.reduction != core::Reduction::kSum)
    return refused({ProblemCode::kUnused, "-o"}, "-o {}: {} does not reduce; remove -o", options.op,
                   options.collective);
  if (options.place != "out" && options.place != "in" && options.place != "both")
    return refused({ProblemCode::kUnknownName, "--place"},
                   "--place {}: expected one of out, in, both", options.place);
  if (options.place == "in" && !core::can_be_in_place(*kind))
    return refused({ProblemCode::kConflict, "--place"}, "--place in: {} cannot run in place",
                   options.collective);
  request.out_of_place = options.place != "in";
  request.in_place = options.place != "out";
  return {};
}

}  // namespace

Expected<PerfRequest> read_perf_request(const PerfOptions& options) {
  PerfRequest request;
  const auto format = format_of(options.format);
  if (!format) return failed(format);
  request.format = *format;
  if (options.backend != "sim") {
    if (!real::parse_backend(options.backend))
      return refused({ProblemCode::kUnknownName, "--backend"},
                     "--backend {}: expected one of sim, {}", options.backend, real::kBackends);
    auto real = executor_options(options.real, options.backend);
    if (!real) return failed(real);
    request.real = std::move(*real);
  } else if (const auto given = first_given(options)) {
    return refused({ProblemCode::kUnused, *given},
                   "{} applies only to a real run (--backend tcp), not to the simulator", *given);
  }
  const auto op = choice<core::Reduction>("--op", options.op, "sum, prod, max, min, avg", parse_op);
  if (!op) return failed(op);
  request.what.reduction = *op;
  if (auto known = read_collective(options, request); !known) return failed(known);
  const auto type = parse_type(options.type);
  if (!type)
    return refused({ProblemCode::kUnknownName, "--type"},
                   "--type {}: expected one of float32, float64, float16, bfloat16, int32, int64",
                   options.type);
  request.what.type = *type;
  const auto least = parse_size(options.least);
  const auto most = parse_size(options.most);
  if (!least)
    return refused({ProblemCode::kSyntax, "-b"},
                   "-b {}: expected bytes, such as 8, 64K, 128M or 25MiB", options.least);
  if (!most)
    return refused({ProblemCode::kSyntax, "-e"},
                   "-e {}: expected bytes, such as 8, 64K, 128M or 25MiB", options.most);
  if (*least > *most)
    return refused({ProblemCode::kConflict, "-b"}, "-b {} is more than -e {}", options.least,
                   options.most);
  if (!(options.factor > 1)) return refused({ProblemCode::kTooSmall, "-f"}, "-f must be above 1");
  real::LoopOptions& loop = request.loop;
  loop.iterations = options.iterations.value_or(loop.iterations);
  loop.warm_up = options.warm_up.value_or(loop.warm_up);
  if (loop.iterations < 1 || loop.iterations > real::kMaxIterations)
    return refused(out_of_range("-n", loop.iterations, real::kMaxIterations),
                   "-n must be from 1 to {}", real::kMaxIterations);
  if (loop.warm_up < 0 || loop.warm_up > real::kMaxWarmUp)
    return refused(out_of_range("-w", loop.warm_up, real::kMaxWarmUp), "-w must be from 0 to {}",
                   real::kMaxWarmUp);
  if (options.check < (request.real ? 1 : 0))
    return refused({ProblemCode::kTooSmall, "-c"},
                   "-c {}: results of a real run are always checked, before and after the timed "
                   "iterations; remove -c",
                   options.check);
  if (options.blocking != 0)
    return refused({ProblemCode::kUnsupported, "-z"},
                   "-z {}: timed iterations always run back to back, as in nccl-tests with -z 0; "
                   "remove -z",
                   options.blocking);
  // 0: sizes grow by the factor instead.
  const std::int64_t step = options.step.empty() ? 0 : parse_size(options.step).value_or(0);
  if (!options.step.empty() && step < 1)
    return refused({ProblemCode::kSyntax, "-i"},
                   "-i {}: expected bytes above 0, such as 8, 64K, 1M or 25MiB", options.step);
  const std::int64_t item = core::size_of(*type).count();
  for (std::int64_t bytes = std::max(*least, item); bytes <= *most;) {
    const std::int64_t elements = bytes / item;
    if (request.sizes.empty() || elements > request.sizes.back()) request.sizes.push_back(elements);
    constexpr std::size_t kMaxSizes = 100'000;
    if (request.sizes.size() > kMaxSizes)
      return step > 0
                 ? refused({ProblemCode::kTooSmall, "-i"},
                           "-i {}: this range has more than {} sizes; use a larger step",
                           options.step, kMaxSizes)
                 : refused({ProblemCode::kTooSmall, "-f"},
                           "-f {}: this range has more than {} sizes; use a larger step factor",
                           options.factor, kMaxSizes);
    const double next = step > 0 ? static_cast<double>(bytes) + static_cast<double>(step)
                                 : static_cast<double>(bytes) * options.factor;
    if (next > static_cast<double>(*most)) break;
    bytes = std::max(bytes + 1, static_cast<std::int64_t>(next));
  }
  if (request.sizes.empty())
    return refused({ProblemCode::kTooSmall, "-e"}, "-e {} is less than one element", options.most);
  return request;
}

}  // namespace tutti::tools
