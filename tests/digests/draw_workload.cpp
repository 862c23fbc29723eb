// Generates gradients of a few hundred bytes to a few hundred kilobytes. The computation is
// sometimes long enough to overlap with communication, and sometimes not.

#include <fmt/format.h>

#include "tests/digests/draft.h"

namespace tutti::test {

namespace {

/// A multiple of every number of replicas that the generator uses.
constexpr int kUnit = 2880;

int elements(Draft& draft, bool divisible) {
  const int size = draft.between(0, 2);
  if (divisible)
    return kUnit * (size == 0 ? 1 : size == 1 ? draft.between(1, 8) : draft.between(8, 50));
  return size == 0   ? draft.between(1, 200)
         : size == 1 ? draft.between(200, 9'000)
                     : draft.between(9'000, 120'000);
}

/// Returns microseconds in milliseconds: "0.003" for 3.
std::string milliseconds(int microseconds) {
  return fmt::format("{}.{:03}", microseconds / 1'000, microseconds % 1'000);
}

std::string of_a_model(Draft& draft) {
  const std::string model = draft.one_of({"lstm_tiny", "mnist_cnn_tf"});
  draft.note("model", model);
  return "workload { model: \"" + model + "\" batch: 4 forward_ms: 0.4 backward_ms: 0.9";
}

}  // namespace

std::string draw_workload(Draft& draft) {
  const Needs& needs = draft.needs;
  std::string text;
  bool dense_types = needs.one_type;
  if (!needs.divisible && draft.chance(6)) {
    text = of_a_model(draft);
  } else {
    const bool divisible = needs.divisible || draft.chance(40);
    draft.note("elements", divisible ? "divisible" : "any");
    const int scale = draft.between(0, 2) == 0 ? 300 : 40;  // maximum microseconds of a segment
    const bool by_layer = draft.chance(60);
    const bool mixed = !needs.one_type && draft.chance(18);
    if (mixed) draft.note("types", "mixed");
    const int variables = needs.many ? 1 : draft.between(2, 8);
    draft.note("variables", std::to_string(variables));
    text = "workload {\n";
    int wide = -1;  // index of a variable with rows
    if (!needs.no_sparse && draft.chance(14)) wide = draft.between(0, variables - 1);
    for (int v = 0; v < variables; ++v) {
      const std::string shape = v == wide     ? "[600, 16]"
                                : needs.equal ? std::to_string(kUnit)
                                              : std::to_string(elements(draft, divisible));
      text += fmt::format("  variable {{ name: \"v{}\" shape: {}", v, shape);
      if (mixed && v != wide)
        text += draft.one_of(
            {"", " data_type: FLOAT16", " data_type: FLOAT64", " data_type: BFLOAT16"});
      if (by_layer) text += " forward_ms: " + milliseconds(draft.between(0, scale / 2));
      text += " backward_ms: " + milliseconds(draft.between(0, scale)) + " }\n";
    }
    draft.note("layer_times", by_layer ? "forward_and_backward" : "backward");
    if (!by_layer) text += draft.maybe(70, "forward", {"forward_ms: 0.05", "forward_ms: 0.3"});
    if (wide >= 0) {
      text += fmt::format(" sparse_gradient {{ variable: \"v{}\" rows_per_step: {}", wide,
                          draft.between(1, 90));
      text += draft.one_of({"", " index_type: INT32"});
      text += draft.maybe(30, "rows_differ", {"rows_differ: true"}) + " }";
      draft.has_sparse = true;
      draft.note("sparse", "yes");
    }
    dense_types = dense_types || mixed;
  }
  if (!dense_types)
    text += draft.maybe(12, "gradient_type", {"gradient_type: FLOAT16", "gradient_type: BFLOAT16"});
  if (draft.chance(20)) {
    text += draft.maybe(100, "micro_batches", {"micro_batches: 2", "micro_batches: 3"});
    text += draft.maybe(50, "accumulate", {"accumulate_ms: 0.02"});
  }
  text +=
      draft.maybe(20, "compute_bound", {"compute_bound_percent: 30", "compute_bound_percent: 80"});
  if (!needs.no_update_time)
    text += draft.maybe(50, "update_ms", {"update_ms: 0", "update_ms: 0.05", "update_ms: 0.2"});
  if (!needs.no_on_read && draft.chance(12)) {
    draft.saves_checkpoints = true;
    text += "\n  on_read { name: \"s\"";
    text +=
        draft.maybe(100, "on_read",
                    {"aggregation: MEAN", "aggregation: SUM", "aggregation: ONLY_FIRST_REPLICA"});
    text += fmt::format(" shape: {}", draft.between(1, 700));
    text += fmt::format(" count: {} }}", draft.between(1, 3));
  }
  return text + " }\n";
}

}  // namespace tutti::test
