// Transformers: the variables and operations that follow from their dimensions.

#include "core/workload/transformer.h"

#include <gtest/gtest.h>

#include <tuple>

#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

/// Compares the variables of a transformer with those of a shipped model.
void expect_equal(const Model& made, const std::string& shipped) {
  const auto model = load_model(test::source_folder() + "/scenarios/models/" + shipped + ".csv");
  ASSERT_TRUE(model) << model.error().message();
  ASSERT_EQ(made.variables.size(), model->variables.size());
  for (std::size_t v = 0; v < made.variables.size(); ++v) {
    const Variable& ours = made.variables[v];
    const Variable& theirs = model->variables[v];
    EXPECT_EQ(ours.name, theirs.name);
    EXPECT_EQ(ours.shape, theirs.shape) << ours.name;
    EXPECT_EQ(ours.elements, theirs.elements) << ours.name;
    EXPECT_EQ(ours.type, theirs.type) << ours.name;
    EXPECT_EQ(ours.forward_flops, theirs.forward_flops) << ours.name;
    EXPECT_EQ(ours.backward_flops, theirs.backward_flops) << ours.name;
    if (v > 0) {
      EXPECT_EQ(ours.layer < made.variables[v - 1].layer,
                theirs.layer < model->variables[v - 1].layer)
          << ours.name;
    }
  }
}

TEST(Transformer, HasTheVariablesOfTheShippedModels) {
  TransformerShape llama{.layers = 32, .hidden = 4096, .heads = 32, .gated = true};
  llama.kv_heads = 32, llama.ffn = 11008, llama.vocabulary = 32000, llama.sequence = 4096;
  expect_equal(transformer_model(llama, "llama"), "llama2_7b");
  llama.kv_heads = 8, llama.ffn = 14336, llama.vocabulary = 128256, llama.sequence = 8192;
  expect_equal(transformer_model(llama, "llama"), "llama3_8b");
}

TEST(Transformer, TensorParallelismDividesMatricesAndTheirOperations) {
  TransformerShape shape{.layers = 3, .hidden = 64, .heads = 8, .kv_heads = 4, .ffn = 128};
  shape.vocabulary = 96, shape.sequence = 16;
  const auto sums = [&] {
    double operations = 0, vectors = 0;
    std::int64_t elements = 0;
    for (const Variable& v : transformer_model(shape, "t").variables) {
      (v.shape.size() > 1 ? operations : vectors) += *v.forward_flops + *v.backward_flops;
      if (v.shape.size() > 1) elements += v.elements;
    }
    return std::tuple(operations, vectors, static_cast<double>(elements));
  };
  const auto [whole, norms, elements] = sums();
  shape.tensor_parallel = 4;
  const auto [part, same_norms, of_part] = sums();
  // The gradients of looked-up rows of the embedding are not divided.
  const double embedding = 16 * 64;
  EXPECT_EQ((whole - embedding) / 4, part - embedding);
  EXPECT_EQ(elements / 4, of_part);
  EXPECT_EQ(norms, same_norms);
}

}  // namespace
}  // namespace tutti::core
