/// The reports of the fake NCCL to the profiler plugin about channels. As in NCCL, they come later
/// than the operation's end. TUTTI_FAKE_NCCL_TELLS adds faults (tests/real/fake_nccl.h).

#pragma once

#include <cstdint>
#include <memory>

#include "real/nccl/api.h"
#include "tests/real/fake_nccl_meeting.h"

namespace tutti::test {

/// Starts to announce new communicators to the plugin. Returns false if the environment names
/// another plugin.
bool follow_channels();
bool follows_channels();

/// Reports that an operation is put on a stream. Returns the event that its channels name as their
/// parent.
void* report_collective(void* profile, const Operation& op);

/// Records that the channels of an operation ran from `begin` to `end` of the GPU's clock.
/// take_channels() reports them, unless `gone` is set by then.
void channels_ended(void* profile, void* collective, const std::shared_ptr<bool>& gone,
                    std::uint64_t begin, std::uint64_t end);

/// Writes at most `most` channels that were reported to the plugin to `to`. Returns their number.
int take_reported_channels(TuttiNcclChannel* to, int most);

}  // namespace tutti::test
