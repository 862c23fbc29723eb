/// What the fake NCCL tells the profiler plugin of its channels, as NCCL does: later, and with the
/// faults that TUTTI_FAKE_NCCL_TELLS asks for (tests/real/fake_nccl.h).

#pragma once

#include <cstdint>
#include <memory>

#include "real/nccl/api.h"
#include "tests/real/fake_nccl_meeting.h"

namespace tutti::test {

/// From now on communicators are made known to the plugin. False when the environment names a
/// plugin of its own.
bool follow_channels();
bool follows_channels();

/// An operation goes onto a stream. Answers what its channels name as their parent.
void* tell_of_collective(void* profile, const Operation& op);

/// Its channels have run from `begin` to `end`, of the GPU's clock. Told by take_channels(), unless
/// `gone` is set by then.
void channels_ended(void* profile, void* collective, const std::shared_ptr<bool>& gone,
                    std::uint64_t begin, std::uint64_t end);

/// At most `most` channels that the plugin knows of by now; how many there were.
int take_told_channels(TuttiNcclChannel* to, int most);

}  // namespace tutti::test
