#pragma once

namespace tutti::core {

/// What decides who waits for whom on the way (docs/models.md).
enum class NetworkModel { kFifo, kIdeal };

}  // namespace tutti::core
