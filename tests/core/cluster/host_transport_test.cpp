#include "core/cluster/host_transport.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tutti::core {
namespace {

TEST(HostTransport, EveryParameterHasARangeAndASource) {
  std::set<std::string_view> names;
  for (const HostFigure& figure : host_figures()) {
    EXPECT_TRUE(names.insert(figure.name).second) << figure.name;
    EXPECT_LE(figure.low, figure.value) << figure.name;
    EXPECT_GE(figure.high, figure.value) << figure.name;
    EXPECT_FALSE(figure.source.empty()) << figure.name;
  }
}

TEST(HostTransport, EveryLibraryHasParameters) {
  for (const HostLibrary library : {HostLibrary::kGrpc, HostLibrary::kSockets, HostLibrary::kGloo,
                                    HostLibrary::kMpi, HostLibrary::kNccl, HostLibrary::kPsLite}) {
    const auto made = host_transport(library, {});
    ASSERT_TRUE(made);
    EXPECT_TRUE(made->receive.costs());
    EXPECT_EQ(describe(*made).find(to_string(library)), 0U);
  }
  EXPECT_FALSE(host_transport(HostLibrary::kOff, {}));
  EXPECT_FALSE(host_transport(HostLibrary::kUnstated, {}));
}

TEST(HostTransport, StatedParametersReplaceThoseOfTheLibrary) {
  HostTransportSettings settings;
  settings.library = HostLibrary::kMpi;
  settings.thread_gb_per_s = 3;
  settings.receive_us_per_message = 7;
  settings.threads = 4;
  const auto made = host_transport(HostLibrary::kGrpc, settings);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->library, HostLibrary::kMpi);
  EXPECT_EQ(made->receive.thread, bandwidth_from_gb_per_s(3));
  EXPECT_EQ(made->receive.per_message, microseconds(7));
  EXPECT_EQ(made->receive.threads, 4);
  settings.library = HostLibrary::kOff;
  EXPECT_FALSE(host_transport(HostLibrary::kGrpc, settings));
}

TEST(HostTransport, AnOverlayNetworkSlowsThreads) {
  HostTransportSettings settings;
  settings.overlay = Overlay::kIpip;
  settings.overlay_factor = 4;
  EXPECT_EQ(host_transport(HostLibrary::kNccl, settings)->receive.thread.count() * 4,
            host_transport(HostLibrary::kNccl, {})->receive.thread.count());
}

/// SOURCE: 569, 363, 202, 142 and 106 MB/s for 128 to 1024 MB over loopback, tensorflow/tensorflow
/// issue 6116.
TEST(HostTransport, TheTimeOfOldTensorFlowsGrpcIsQuadraticInTheSize) {
  HostTransportSettings settings;
  settings.receive_us_per_mb2 = 8.5;
  const HostEndpoint receive = host_transport(HostLibrary::kGrpc, settings)->receive;
  const std::pair<std::int64_t, double> published[] = {
      {128, 569}, {256, 363}, {512, 202}, {768, 142}, {1024, 106}};
  for (const auto& [megabytes, mb_per_s] : published) {
    const double seconds =
        static_cast<double>(receive.moving(Bytes(megabytes * 1'000'000)).count()) / 1e12;
    EXPECT_NEAR(static_cast<double>(megabytes) / seconds / mb_per_s, 1, 0.05) << megabytes;
  }
  // The first fully connected layer of VGG-16 under TensorFlow 1.3.
  EXPECT_NEAR(static_cast<double>(receive.moving(Bytes(411'041'792)).count()) / 1e12, 1.7, 0.05);
}

TEST(HostTransport, SeveralThreadsServeMessagesInParallel) {
  HostEndpoint endpoint;
  endpoint.thread = bandwidth_from_gb_per_s(1);
  endpoint.per_message = microseconds(10);
  endpoint.threads = 4;
  EXPECT_EQ(endpoint.moving(Bytes(30'000)), microseconds(30));
  EXPECT_EQ(endpoint.occupied(Bytes(30'000)), microseconds(10) + picoseconds(1));
  endpoint.split = true;
  EXPECT_EQ(endpoint.moving(Bytes(40'000)), microseconds(10));
  EXPECT_EQ(endpoint.occupied(Bytes(40'000)), microseconds(20));
}

}  // namespace
}  // namespace tutti::core
