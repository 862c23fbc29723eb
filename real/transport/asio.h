#pragma once

// The only header that includes Boost.Asio. Boost 1.74 in C++20 mode needs <utility> before it.

#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
