#pragma once

#include <memory>
#include <string>

namespace tutti::test {

/// A certificate authority for tests.
class Authority {
 public:
  Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;
  ~Authority();

  /// Writes certificate.pem, key.pem and ca.pem, as `--tls FOLDER` reads them, for a new key pair.
  /// `trusts`: the authority in ca.pem; null: this authority.
  void issue(const std::string& folder, const Authority* trusts = nullptr) const;

 private:
  struct Native;
  std::unique_ptr<Native> native_;
};

}  // namespace tutti::test
