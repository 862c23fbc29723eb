// Compiles the text of an algorithm to a program for one shape. Each expression becomes a node. The
// known properties of a node (values.h) hold for all ranks. The properties prove that no divisor is
// 0. The properties also give an upper bound on the number of steps of a lane. Properties show
// whether the iterations of a loop differ, and whether all workers execute the same steps.
//
// This file has the header of the algorithm (parameters, requirements, chunks, scratch, slots) and
// the order of the compiler's parts, which compilation.h lists.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/custom/compiler/statements.h"

namespace tutti::core::custom {
namespace {

constexpr std::int64_t kMaxChunks = std::int64_t{1} << 40;
constexpr std::int64_t kMaxScratchPerChunk = 64;
constexpr std::int64_t kMaxSlots = 1 << 20;

class HeaderCompiler : public CompilerPart {
 public:
  HeaderCompiler(Compilation& shared, ExpressionCompiler& expressions)
      : CompilerPart(shared), expressions_(expressions) {}

  /// Compiles the header. `set` overrides the default values of parameters.
  void compile(const std::vector<AlgorithmParameter>& set) {
    std::vector<std::string> names;
    for (const ParameterText& parameter : syntax_.parameters) names.push_back(parameter.name);
    for (const AlgorithmParameter& one : set) {
      if (std::find(names.begin(), names.end(), one.name) == names.end()) {
        problems_.add({ProblemCode::kUnknownName}, {syntax_.file, 0, 0},
                      "the algorithm has no parameter \"{}\"{}", one.name,
                      names.empty() ? "; it has none" : did_you_mean(one.name, names));
      }
    }
    for (const HeaderItem& item : syntax_.order) {
      switch (item.kind) {
        case HeaderItem::Kind::kParameter:
          define_parameter(syntax_.parameters[item.index], set);
          break;
        case HeaderItem::Kind::kLet:
          expressions_.define_let(syntax_.definitions[item.index]);
          break;
        case HeaderItem::Kind::kRequire: check(syntax_.requirements[item.index]); break;
        case HeaderItem::Kind::kChunks:
          program_.chunks = expressions_.number(syntax_.chunks, "chunks", 1, kMaxChunks);
          expressions_.define_value("chunks", values_.constant(program_.chunks));
          check_blocks();
          break;
        case HeaderItem::Kind::kScratch:
          program_.scratch =
              expressions_.number(syntax_.scratch, "scratch", 0, kMaxScratchPerChunk * kMaxChunks);
          break;
        case HeaderItem::Kind::kSlots:
          program_.slots =
              static_cast<int>(expressions_.number(syntax_.slots, "slots", 1, kMaxSlots));
          break;
      }
    }
    if (program_.scratch > kMaxScratchPerChunk * program_.chunks) {
      complain(ProblemCode::kTooLarge, syntax_.at(syntax_.scratch).at,
               "{} chunks of scratch exceed the limit of {} per chunk of the buffer (the buffer "
               "has {} chunks); use fewer chunks of scratch",
               program_.scratch, kMaxScratchPerChunk, program_.chunks);
    }
  }

 private:
  void define_parameter(const ParameterText& parameter,
                        const std::vector<AlgorithmParameter>& set) {
    std::int64_t value = parameter.value;
    for (const AlgorithmParameter& one : set) {
      if (one.name == parameter.name) value = one.value;
    }
    if (value < -kLargestValue || value > kLargestValue) {
      complain(ProblemCode::kTooLarge, parameter.at,
               "{} is out of range; numbers must be from -2^60 to 2^60", value);
      value = 1;
    }
    expressions_.define(parameter.name, values_.constant(value), parameter.at);
  }

  void check(const Requirement& requirement) {
    const Facts& facts = values_.facts(expressions_.evaluate(requirement.condition));
    if (!facts.constant()) {
      complain(ProblemCode::kInvalid, requirement.at,
               "the condition after require must not depend on the rank; use ranks, nodes, gpus "
               "and parameters only");
    } else if (facts.low == 0) {
      complain(ProblemCode::kConflict, requirement.at,
               "{} (here: ranks = {}, nodes = {}, gpus = {})", requirement.why,
               program_.shape.ranks, program_.shape.ranks / program_.shape.per_node,
               program_.shape.per_node);
    }
  }

  void check_blocks() {
    if (!has_blocks(program_.kind) || program_.chunks % program_.shape.ranks == 0) return;
    complain(ProblemCode::kConflict, syntax_.at(syntax_.chunks).at,
             "{} chunks cannot be divided into {} equal blocks, one per rank, as {} requires; use "
             "a multiple of the number of ranks",
             program_.chunks, program_.shape.ranks, to_string(program_.kind));
  }

  ExpressionCompiler& expressions_;
};

}  // namespace

std::shared_ptr<const Program> compile(const Syntax& syntax, const AlgorithmShape& shape,
                                       const std::vector<AlgorithmParameter>& set,
                                       Problems& problems) {
  Compilation shared(syntax, shape, problems);
  const auto sound = [&] { return problems.size() == shared.before; };
  ExpressionCompiler expressions(shared);
  SymmetryCheck symmetry(shared);
  StatementCompiler statements(shared, expressions, symmetry);
  expressions.define_shape();
  HeaderCompiler(shared, expressions).compile(set);
  if (sound()) statements.compile_lanes();
  if (sound()) statements.resolve_waits();
  if (sound()) symmetry.check_declared_symmetry();
  if (!sound()) return nullptr;
  shared.values.swap_nodes(shared.program.values.nodes);
  return std::make_shared<const Program>(std::move(shared.program));
}

}  // namespace tutti::core::custom
