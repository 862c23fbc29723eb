// Finds the names and sizes of gradients of a trace that has sizes of packs only: a shipped model
// whose gradients form exactly these packs, or otherwise one gradient for each pack. Removes
// gradients that are not reduced, and merges those of packs that DDP would not form.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/import/scenario_of_run.h"

namespace tutti::core {
namespace {

/// Returns the reason why the gradients of `model` cannot be those that were measured; empty if
/// they may be.
std::string misfit(const CandidateModel& model, const StepModel& step) {
  if (model.gradients.size() != step.gradients.size())
    return fmt::format("the model has {} variables, but a step of the trace has {} gradients",
                       model.gradients.size(), step.gradients.size());
  // If all gradients belong to packs, compare the bytes of the packs. Packs must contain the
  // model's gradients in reverse order of creation.
  std::size_t g = model.gradients.size();
  for (std::size_t p = 0; p < step.packs.size(); ++p) {
    const StepModel::Pack& pack = step.packs[p];
    std::int64_t elements = 0;
    for (std::size_t i = 0; i < pack.gradients.size() && g > 0; ++i)
      elements += model.gradients[--g].elements;
    if (pack.bytes >= 0 && pack.type.bytes > 0 && elements * pack.type.bytes != pack.bytes)
      return fmt::format(
          "with the gradients of this model, pack {} would have {} bytes, but the pack has {} "
          "bytes in the trace",
          p, elements * pack.type.bytes, pack.bytes);
  }
  return "";
}

bool has_sizes(const StepModel& model) {
  return std::all_of(model.gradients.begin(), model.gradients.end(),
                     [](const StepModel::Gradient& g) { return g.elements > 0; });
}

void take_gradients(const CandidateModel& candidate, StepModel& model) {
  for (std::size_t g = 0; g < model.gradients.size(); ++g) {
    StepModel::Gradient& to = model.gradients[g];
    const CandidateModel::Gradient& from = candidate.gradients[candidate.gradients.size() - 1 - g];
    to.name = from.name;
    to.elements = from.elements;
    to.shape = from.shape;
    if (!to.type.name.empty()) continue;
    const ElementType of_pack = to.pack < 0 ? ElementType() : model.packs[to.pack].type;
    to.type = of_pack.name.empty() ? element_type_of(from.type) : of_pack;
  }
}

/// Replaces the gradients of each pack by a single gradient with the size of the pack, for traces
/// in which only packs have sizes. The single gradient becomes ready with the last gradient of the
/// pack. Returns false if packs have no sizes either.
bool packs_as_gradients(StepModel& model) {
  if (model.packs.empty()) return false;
  for (const StepModel::Pack& pack : model.packs) {
    if (pack.bytes <= 0 || pack.type.bytes <= 0 || pack.gradients.empty()) return false;
  }
  std::vector<StepModel::Gradient> gradients;
  std::vector<StepModel::Layer> layers;
  std::int32_t layer = 0;
  for (std::size_t p = 0; p < model.packs.size(); ++p) {
    StepModel::Pack& pack = model.packs[p];
    const std::int32_t last = model.gradients[pack.gradients.back()].layer;
    std::int64_t backward = 0, gap = 0;
    for (; layer <= last; ++layer) {
      backward += model.layers[layer].backward_ns;
      gap += model.layers[layer].gap_ns;
    }
    StepModel::Gradient gradient;
    gradient.name = fmt::format("bucket_{}", p);
    gradient.elements = pack.bytes / pack.type.bytes;
    gradient.shape = {gradient.elements};
    gradient.type = pack.type;
    gradient.layer = gradient.pack = static_cast<std::int32_t>(p);
    layers.push_back({gradient.name, backward, gap});
    gradients.push_back(std::move(gradient));
    pack.gradients = {static_cast<std::int32_t>(p)};
  }
  model.gradients = std::move(gradients);
  model.layers = std::move(layers);
  return true;
}

/// Returns the name, sizes and notes of fit_gradients() for a model all of whose gradients stay.
Expected<std::vector<std::string>> fit_all(StepModel& model, const ScenarioFacts& facts) {
  if (model.gradients.empty() || (has_sizes(model) && !facts.requested_model))
    return std::vector<std::string>();
  // Models are compared by the sizes of packs, because the number of gradients alone does not
  // identify a model.
  const bool known_packs = std::any_of(model.packs.begin(), model.packs.end(),
                                       [](const StepModel::Pack& p) { return p.bytes >= 0; });
  Problems problems;
  for (const CandidateModel& candidate : facts.models) {
    const std::string why = misfit(candidate, model);
    if (!why.empty() && facts.requested_model)
      problems.add({ProblemCode::kConflict, "--model"}, {}, "--model {}: {}", candidate.name, why);
    if (!why.empty() || (!facts.requested_model && !known_packs)) continue;
    take_gradients(candidate, model);
    return std::vector{fmt::format(
        "the gradients are named after the variables of model {}, whose sizes match all packs",
        candidate.name)};
  }
  if (!problems.empty()) return problems.take();
  const std::size_t number = model.gradients.size();
  if (packs_as_gradients(model))
    return std::vector{fmt::format(
        "the trace does not contain the sizes of its {} gradients, so each of the {} packs becomes "
        "one variable; profile with record_shapes=True, or name the model (--model)",
        number, model.packs.size())};
  problems.add({ProblemCode::kMissing, "--model"}, {},
               "--model: the trace does not contain the sizes of its {} gradients; name the model "
               "(tutti init --list, or a file), or profile with record_shapes=True",
               number);
  return problems.take();
}

/// Removes gradients that are in no pack, if other gradients are, such as those of embedding tables
/// that are distributed over the ranks. Their computation becomes a part of the next layer whose
/// gradients are reduced, or of the update. Returns the number of removed gradients.
std::size_t drop_unreduced(StepModel& model) {
  const auto reduced = [](const StepModel::Gradient& g) { return g.pack >= 0; };
  const std::size_t all = model.gradients.size();
  const auto kept = std::count_if(model.gradients.begin(), model.gradients.end(), reduced);
  if (kept == 0 || kept == std::ssize(model.gradients)) return 0;
  std::vector<bool> keeps(model.layers.size()), drops(model.layers.size());
  std::vector<std::int32_t> place(all, -1);
  std::int32_t next = 0;
  for (std::size_t g = 0; g < all; ++g) {
    const auto layer = static_cast<std::size_t>(model.gradients[g].layer);
    (reduced(model.gradients[g]) ? keeps : drops)[layer] = true;
    if (reduced(model.gradients[g])) place[g] = next++;
  }
  std::int64_t backward = 0, gap = 0;
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    StepModel::Layer& layer = model.layers[l];
    if (keeps[l]) {
      layer.backward_ns += std::exchange(backward, 0);
      layer.gap_ns += std::exchange(gap, 0);
    } else if (drops[l]) {
      backward += std::exchange(layer.backward_ns, 0);
      gap += std::exchange(layer.gap_ns, 0);
    }
  }
  model.update_ns += backward;
  model.forward_gap_ns += gap;
  for (StepModel::Pack& pack : model.packs) {
    for (std::int32_t& g : pack.gradients) g = place[g];
  }
  std::erase_if(model.gradients, [&](const StepModel::Gradient& g) { return !reduced(g); });
  return all - model.gradients.size();
}

}  // namespace

Expected<std::vector<std::string>> fit_gradients(StepModel& model, const ScenarioFacts& facts) {
  auto notes = fit_all(model, facts);
  if (!notes) return notes;
  const std::size_t all = model.gradients.size();
  if (const std::size_t dropped = drop_unreduced(model); dropped > 0)
    notes->push_back(
        fmt::format("{} of {} gradients are in no all-reduce of the trace; the scenario contains "
                    "their computation, but does not reduce them",
                    dropped, all));
  // Sometimes no bucket limits of DDP produce the packs of the trace, for example if a model has
  // several DDP modules, because each module has a first bucket of its own. Each pack then becomes
  // one variable.
  const std::size_t kept = model.gradients.size();
  if (model.has_buckets && !limits_of_packs(model) && packs_as_gradients(model))
    notes->push_back(fmt::format(
        "no bucket sizes of PyTorch DDP produce exactly the packs of the trace, so the scenario "
        "has one variable for each of the {} packs, instead of one for each of the {} gradients",
        model.packs.size(), kept));
  return notes;
}

}  // namespace tutti::core
