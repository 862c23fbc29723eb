#include "core/framework/tensorflow/all_reduce_spec_reader.h"
#include "core/framework/tensorflow/distribution_reader.h"
#include "core/framework/tensorflow/multi_worker_reader.h"
#include "core/framework/tensorflow/tensorflow.h"
#include "core/proto/scenario.pb.h"

namespace tutti::core {

std::shared_ptr<const Framework> read_tensorflow(const StrategyText& text) {
  const proto::Strategy& message = text.message;
  TensorFlow options;
  options.collective_all_reduce = collective_all_reduce_from(message, text.fields);
  options.distribution = distribution_from(message, text.fields);
  if (message.has_all_reduce_spec()) {
    options.spec = all_reduce_spec_from(message, text.fields, text.complaints);
    if (!options.spec) return nullptr;
    options.spec_text = message.all_reduce_spec().text();
  }
  return tensorflow(std::move(options));
}

}  // namespace tutti::core
