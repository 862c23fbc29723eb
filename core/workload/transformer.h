#pragma once

#include <cstdint>
#include <string>

#include "core/base/data_type.h"
#include "core/workload/model.h"

namespace tutti::core {

/// The dimensions of a decoder-only transformer (GPT, Llama), without biases.
struct TransformerShape {
  std::int64_t layers = 1;
  std::int64_t hidden = 1;
  std::int64_t heads = 1;       ///< number of attention heads; divides `hidden`
  std::int64_t kv_heads = 1;    ///< number of heads of keys and values (grouped-query attention)
  std::int64_t ffn = 1;         ///< hidden units of the feed-forward network
  bool gated = false;           ///< true: a third matrix gates the hidden units (SwiGLU)
  std::int64_t vocabulary = 1;  ///< number of tokens in the vocabulary
  std::int64_t sequence = 1;    ///< number of tokens in a sequence; a sequence is one sample
  bool tied_embedding = false;  ///< true if the embedding is also the output projection
  DataType type = DataType::kBfloat16;
  /// The number of replicas among which the heads, the hidden units and the vocabulary are divided
  /// (tensor parallelism). The model has the variables of one of these replicas. `tensor_parallel`
  /// divides `heads`, `kv_heads`, `ffn` and `vocabulary`.
  std::int64_t tensor_parallel = 1;
};

/// Returns the variables and operations of one replica, in the order of Llama's program. A
/// multiply-add has 2 operations. The backward pass of a weight has twice the operations of its
/// forward pass. A normalization has 5 operations per element in the forward pass and 10 in the
/// backward pass. The products of attention (4 · sequence² · hidden operations) are counted in the
/// output projection of the attention. REQUIRES: the numbers are positive, and the number of
/// elements of each variable fits into 64 bits.
Model transformer_model(const TransformerShape& shape, const std::string& name);

}  // namespace tutti::core
