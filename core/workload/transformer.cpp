#include "core/workload/transformer.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tutti::core {
namespace {

/// Adds variables to a model, layer by layer.
class TransformerMaker {
 public:
  TransformerMaker(const TransformerShape& shape, Model& model) : shape_(shape), model_(model) {}

  void make() {
    const std::int64_t parts = shape_.tensor_parallel;
    const std::int64_t hidden = shape_.hidden, ffn = shape_.ffn / parts;
    const std::int64_t queries = hidden / parts;
    const std::int64_t keys = hidden / shape_.heads * shape_.kv_heads / parts;
    embed();
    for (std::int64_t l = 0; l < shape_.layers; ++l) {
      // The layers of a block: normalization, queries to values, output projection, normalization,
      // both inputs of the feed-forward network, its output.
      const std::int64_t first = 1 + 6 * l;
      const auto at = [l](const char* what) { return fmt::format("layers.{}.{}.weight", l, what); };
      matrix(at("attention.wq"), queries, hidden, first + 1);
      matrix(at("attention.wk"), keys, hidden, first + 1);
      matrix(at("attention.wv"), keys, hidden, first + 1);
      matrix(at("attention.wo"), hidden, queries, first + 2,
             attention() / static_cast<double>(parts));
      matrix(at("feed_forward.w1"), ffn, hidden, first + 4);
      matrix(at("feed_forward.w2"), hidden, ffn, first + 5);
      if (shape_.gated) matrix(at("feed_forward.w3"), ffn, hidden, first + 4);
      norm(at("attention_norm"), first);
      norm(at("ffn_norm"), first + 3);
    }
    const std::int64_t last = 1 + 6 * shape_.layers;
    norm("norm.weight", last);
    if (!shape_.tied_embedding)
      matrix("output.weight", shape_.vocabulary / parts, hidden, last + 1);
  }

 private:
  [[nodiscard]] double tokens() const { return static_cast<double>(shape_.sequence); }
  [[nodiscard]] double attention() const {
    return 4 * tokens() * tokens() * static_cast<double>(shape_.hidden);
  }

  void add(std::string name, std::vector<std::int64_t> sides, std::int64_t layer, double forward,
           double backward) {
    Variable variable;
    variable.name = std::move(name);
    variable.elements = 1;
    for (const std::int64_t side : sides) variable.elements *= side;
    variable.shape = std::move(sides);
    variable.type = shape_.type;
    variable.layer = layer;
    variable.forward_flops = forward;
    variable.backward_flops = backward;
    model_.variables.push_back(std::move(variable));
  }

  void matrix(std::string name, std::int64_t rows, std::int64_t columns, std::int64_t layer,
              double more = 0) {
    const double operations =
        2 * tokens() * static_cast<double>(rows) * static_cast<double>(columns) + more;
    add(std::move(name), {rows, columns}, layer, operations, 2 * operations);
  }

  void norm(std::string name, std::int64_t layer) {
    const double elements = tokens() * static_cast<double>(shape_.hidden);
    add(std::move(name), {shape_.hidden}, layer, 5 * elements, 10 * elements);
  }

  /// An embedding adds the gradients of the tokens to its rows. If it is also the output
  /// projection, it has the operations of this product.
  void embed() {
    const std::int64_t rows = shape_.vocabulary / shape_.tensor_parallel;
    if (shape_.tied_embedding) return matrix("tok_embeddings.weight", rows, shape_.hidden, 0);
    add("tok_embeddings.weight", {rows, shape_.hidden}, 0, 0,
        tokens() * static_cast<double>(shape_.hidden));
  }

  const TransformerShape& shape_;
  Model& model_;
};

}  // namespace

Model transformer_model(const TransformerShape& shape, const std::string& name) {
  Model model;
  model.name = name;
  TransformerMaker(shape, model).make();
  return model;
}

}  // namespace tutti::core
