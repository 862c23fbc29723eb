#include "tests/support/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdio>
#include <stdexcept>

namespace tutti::test {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Returns a certificate for `key`, signed with the key of `signer`. `signer`: null for a
/// certificate that signs itself.
X509* certificate(EVP_PKEY* key, const char* name, const X509* signer, EVP_PKEY* signs) {
  X509* const made = X509_new();
  X509_set_version(made, 2);
  static long serial = 0;
  ASN1_INTEGER_set(X509_get_serialNumber(made), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(made), -60);
  X509_gmtime_adj(X509_getm_notAfter(made), 3600);
  X509_set_pubkey(made, key);
  X509_NAME* const subject = X509_get_subject_name(made);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509_set_issuer_name(made, signer ? X509_get_subject_name(signer) : subject);
  if (!signer) {
    X509_EXTENSION* const authority =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE");
    X509_add_ext(made, authority, -1);
    X509_EXTENSION_free(authority);
  }
  if (X509_sign(made, signs, EVP_sha256()) == 0)
    throw std::runtime_error("a certificate cannot be signed");
  return made;
}

File open(const std::string& path) {
  File file(std::fopen(path.c_str(), "w"), std::fclose);
  if (!file) throw std::runtime_error(path + " cannot be written");
  return file;
}

}  // namespace

struct Authority::Native {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* own = certificate(key, "authority of a test", nullptr, key);
  Native() = default;
  Native(const Native&) = delete;
  Native& operator=(const Native&) = delete;
  ~Native() {
    X509_free(own);
    EVP_PKEY_free(key);
  }
};

Authority::Authority() : native_(std::make_unique<Native>()) {}
Authority::~Authority() = default;

void Authority::issue(const std::string& folder, const Authority* trusts) const {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509* const made = certificate(key, "a machine of a test", native_->own, native_->key);
  PEM_write_X509(open(folder + "/certificate.pem").get(), made);
  PEM_write_PrivateKey(open(folder + "/key.pem").get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  ::chmod((folder + "/key.pem").c_str(), 0600);
  PEM_write_X509(open(folder + "/ca.pem").get(), (trusts ? trusts : this)->native_->own);
  X509_free(made);
  EVP_PKEY_free(key);
}

}  // namespace tutti::test
