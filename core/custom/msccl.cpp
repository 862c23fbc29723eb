// In the file, offsets and sizes are numbers of chunks; schedule() multiplies them by the elements
// per chunk. All chunks of a file must have the same size, so buffers are padded to a multiple of
// the number of chunks.

#include "core/custom/msccl.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/custom/msccl_program.h"

namespace tutti::core::custom {
namespace {

class MscclSchedule : public Schedule {
 public:
  MscclSchedule(std::shared_ptr<const MscclProgram> program, std::int64_t elements,
                std::int64_t input_shift, Engine engine)
      : program_(std::move(program)),
        chunk_(elements / program_->chunks),
        input_shift_(input_shift),
        engine_(engine) {}

  [[nodiscard]] std::int32_t ranks() const override {
    return static_cast<std::int32_t>(program_->gpus.size());
  }
  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return static_cast<std::int32_t>(gpu(rank).blocks.size());
  }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return static_cast<std::int64_t>(block(rank, lane).steps.size());
  }
  [[nodiscard]] std::int64_t scratch(Rank rank) const override {
    return gpu(rank).scratch * chunk_;
  }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return engine_; }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    const MscclStep& one = block(rank, lane).steps[index];
    Step step = one.step;
    step.source = scaled(step.source, one.input_source);
    step.target = scaled(step.target, one.input_target);
    if (step.source.count > 0 && !(step.kind == StepKind::kCopy && step.source == step.target))
      return step;
    Step nothing;
    nothing.wait = step.wait;
    return nothing;
  }

 private:
  [[nodiscard]] const MscclGpu& gpu(Rank rank) const { return program_->gpus[rank]; }
  [[nodiscard]] const MscclBlock& block(Rank rank, Lane lane) const {
    return gpu(rank).blocks[lane];
  }
  [[nodiscard]] Range scaled(Range range, bool input) const {
    range.offset = range.offset * chunk_ + (input ? input_shift_ : 0);
    range.count *= chunk_;
    return range;
  }

  std::shared_ptr<const MscclProgram> program_;
  std::int64_t chunk_;
  std::int64_t input_shift_;
  Engine engine_;
};

class MscclAlgorithm : public CustomAlgorithm {
 public:
  MscclAlgorithm(std::shared_ptr<const MscclProgram> program, const AlgorithmShape& shape)
      : program_(std::move(program)), shape_(shape) {}

  [[nodiscard]] CollectiveKind kind() const override { return program_->kind; }
  [[nodiscard]] const AlgorithmShape& shape() const override { return shape_; }
  [[nodiscard]] bool reads_inputs() const override { return !program_->in_place; }
  [[nodiscard]] std::int64_t padded(std::int64_t elements) const override {
    return (elements + program_->chunks - 1) / program_->chunks * program_->chunks;
  }
  [[nodiscard]] std::string note() const override {
    if (program_->protocol.empty() || program_->protocol == "Simple") return "";
    return fmt::format(
        "{} uses protocol {}, but Tutti simulates its messages with the times of protocol Simple",
        program_->name, program_->protocol);
  }
  [[nodiscard]] std::optional<std::int64_t> even_elements() const override {
    return program_->chunks;
  }
  [[nodiscard]] std::unique_ptr<Schedule> schedule(std::int64_t elements, std::int64_t input_shift,
                                                   Engine engine, std::int64_t) const override {
    return std::make_unique<MscclSchedule>(program_, elements, input_shift, engine);
  }
  [[nodiscard]] std::int64_t total_steps() const override {
    std::int64_t steps = 0;
    for (const MscclGpu& gpu : program_->gpus) {
      for (const MscclBlock& block : gpu.blocks)
        steps += static_cast<std::int64_t>(block.steps.size());
    }
    return steps;
  }
  [[nodiscard]] std::optional<Location> place_of(Rank rank, Lane lane,
                                                 std::int64_t index) const override {
    if (rank < 0 || static_cast<std::size_t>(rank) >= program_->gpus.size()) return std::nullopt;
    const auto& blocks = program_->gpus[rank].blocks;
    if (lane < 0 || static_cast<std::size_t>(lane) >= blocks.size()) return std::nullopt;
    const auto& steps = blocks[lane].steps;
    if (index < 0 || static_cast<std::size_t>(index) >= steps.size()) return std::nullopt;
    return steps[index].place;
  }
  [[nodiscard]] std::string why_not_folded() const override {
    return fmt::format("{}: the file lists the steps of every GPU separately", program_->file);
  }

 private:
  std::shared_ptr<const MscclProgram> program_;
  AlgorithmShape shape_;
};

class MscclText : public AlgorithmText {
 public:
  explicit MscclText(std::shared_ptr<const MscclProgram> program) : program_(std::move(program)) {}
  [[nodiscard]] const std::string& name() const override { return program_->name; }
  [[nodiscard]] CollectiveKind kind() const override { return program_->kind; }
  [[nodiscard]] std::vector<std::string> parameters() const override { return {}; }
  [[nodiscard]] std::shared_ptr<const CustomAlgorithm> for_shape(
      const AlgorithmShape& shape, const std::vector<AlgorithmParameter>& set,
      Problems& problems) const override {
    const Location whole{program_->file, 0, 0};
    if (!set.empty()) {
      problems.add(
          {ProblemCode::kUnknownName}, whole,
          "MSCCL's XML has no parameters, so \"{}\" cannot be set; remove \"set\" from \"custom\"",
          set.front().name);
      return nullptr;
    }
    if (static_cast<std::size_t>(shape.ranks) != program_->gpus.size()) {
      problems.add({ProblemCode::kConflict, "algo.ngpus"}, whole,
                   "the file has the steps of {} GPUs, but {} replicas take part; use a cluster of "
                   "that size",
                   program_->gpus.size(), shape.ranks);
      return nullptr;
    }
    return std::make_shared<MscclAlgorithm>(program_, shape);
  }

 private:
  std::shared_ptr<const MscclProgram> program_;
};

}  // namespace

bool is_msccl(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '<';
}

std::shared_ptr<const AlgorithmText> read_msccl(std::string_view text, const std::string& file,
                                                Problems& problems) {
  const Expected<nccl::XmlText> xml = nccl::XmlText::parse(text, file, "algo");
  if (!xml) {
    problems.add(xml.error());
    return nullptr;
  }
  auto program = read_msccl_program(*xml, file, problems);
  return program ? std::make_shared<MscclText>(std::move(program)) : nullptr;
}

}  // namespace tutti::core::custom
