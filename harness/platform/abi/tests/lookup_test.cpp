// The lookup of functions against the public headers, read here once more and in another way.
#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "harness/platform/abi/tests/platform.hpp"

namespace symmcts::platform::abi::test {
namespace {

constexpr int kAbiVersion = 13010;  // the two functions of CUDA 13.1 are the newest

std::string read(const std::string& name) {
  std::ifstream in(std::string(SYMMCTS_CUDA_HEADERS) + "/" + name);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Versions {
  std::set<int> base, per_thread;
};

// From cudaTypedefs.h: PFN_<name>_v<version>[_ptds|_ptsz].
std::map<std::string, Versions> header_versions() {
  std::map<std::string, Versions> out;
  const std::string text = read("cudaTypedefs.h");
  const std::regex typedefs(R"(\*PFN_(cu\w+?)_v(\d+)(_ptds|_ptsz)?\)\()");
  for (std::sregex_iterator at(text.begin(), text.end(), typedefs), end; at != end; ++at) {
    Versions& versions = out[(*at)[1]];
    ((*at)[3].matched ? versions.per_thread : versions.base).insert(std::stoi((*at)[2]));
  }
  return out;
}

struct Answer {
  CUresult result = CUDA_SUCCESS;
  void* address = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
};

Answer ask(const std::string& name, int version, cuuint64_t flags = 0) {
  Answer out;
  out.address = reinterpret_cast<void*>(1);
  out.result = CU(cuGetProcAddress_v2)(name.c_str(), &out.address, version, flags, &out.status);
  return out;
}

std::string elf_name(void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_sname != nullptr ? info.dli_sname : "?";
}

TEST(Lookup, EveryNameAtEveryIntroductionAndOneEitherSide) {
  const auto header = header_versions();
  ASSERT_GT(header.size(), 440U);  // CUDA 13.0 has 447
  int asked = 0;
  for (const auto& [name, versions] : header) {
    ASSERT_FALSE(versions.base.empty()) << name;
    const std::vector<int> order(versions.base.begin(), versions.base.end());
    std::set<int> questions;
    for (int version : order) questions.insert({version - 1, version, version + 1});
    for (int version : versions.per_thread) questions.insert({version - 1, version, version + 1});
    for (const int question : questions) {
      const auto newer = std::upper_bound(order.begin(), order.end(), question);
      const auto index = newer - order.begin();
      for (const cuuint64_t flags : {0, 1, 2}) {
        ++asked;
        const Answer answer = ask(name, question, flags);
        ASSERT_EQ(answer.result, CUDA_SUCCESS) << name << ' ' << question;
        if (index == 0) {
          EXPECT_EQ(answer.address, nullptr) << name << ' ' << question;
          EXPECT_EQ(answer.status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT) << name;
          continue;
        }
        EXPECT_EQ(answer.status, CU_GET_PROC_ADDRESS_SUCCESS) << name << ' ' << question;
        std::string elf = name + (index == 1 ? "" : "_v" + std::to_string(index));
        const std::string legacy = elf;
        if (flags == 2 && !versions.per_thread.empty() &&
            *versions.per_thread.begin() <= question) {
          for (const char* suffix : {"_ptds", "_ptsz"}) {
            if (dlsym(library(), (legacy + suffix).c_str()) != nullptr) elf = legacy + suffix;
          }
        }
        EXPECT_EQ(answer.address, dlsym(library(), elf.c_str()))
            << name << " at " << question << " flags " << flags << ": " << elf_name(answer.address)
            << ", expected " << elf;
      }
    }
  }
  EXPECT_GT(asked, 4000);
}

// cuda.h renames each function to the version that its users mean: the lookup must give the same.
TEST(Lookup, AgreesWithTheRenamingOfCudaH) {
  const std::string text = read("cuda.h");
  const std::regex renames(R"(#define\s+(cu\w+)\s+(__CUDA_API_PT[DS][SZ]\()?(cu\w+?)(\))?\s*\n)");
  int compared = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), renames), end; at != end; ++at) {
    const std::string name = (*at)[1], target = (*at)[3];
    // Another function's name, not a version of this one.
    if (target == "cuGraphInstantiateWithFlags" || target.ends_with("_ptsz")) continue;
    // cuda.h offers this one's second version only under its full name, as for cuCtxGetDevice.
    if (name.starts_with("cuStreamGetCtx")) continue;
    ++compared;
    const std::string suffix =
        (*at)[2].matched
            ? (std::string((*at)[2]).find("PTDS") != std::string::npos ? "_ptds" : "_ptsz")
            : "";
    EXPECT_EQ(ask(name, CUDA_VERSION, 2).address, dlsym(library(), (target + suffix).c_str()))
        << name;
    EXPECT_EQ(ask(name, CUDA_VERSION, 1).address, dlsym(library(), target.c_str())) << name;
  }
  EXPECT_GT(compared, 100);
}

TEST(Lookup, TellsAnUnknownNameFromAVersionThatIsTooLow) {
  EXPECT_EQ(ask("cuNoSuchFunction", CUDA_VERSION).status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(ask("cuMemAlloc_v2", CUDA_VERSION).status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(ask("symmcts_platform_abi", CUDA_VERSION).address, nullptr);
  EXPECT_EQ(ask("cuMulticastCreate", 12000).status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}

// Device-explicit forms of CUDA 13.1, in no 13.0 header.
TEST(Lookup, ServesTheMulticastFormsOfCuda131) {
  for (const std::string name : {"cuMulticastBindMem", "cuMulticastBindAddr"}) {
    EXPECT_EQ(elf_name(ask(name, 13009).address), name);
    EXPECT_EQ(elf_name(ask(name, kAbiVersion).address), name + "_v2");
  }
}

TEST(Lookup, RefusesBadArguments) {
  void* address = nullptr;
  const auto lookup = CU(cuGetProcAddress_v2);
  EXPECT_EQ(lookup(nullptr, &address, CUDA_VERSION, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(lookup("cuInit", nullptr, CUDA_VERSION, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(lookup("cuInit", &address, CUDA_VERSION, 3, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(lookup("cuInit", &address, kAbiVersion + 1, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
}

// The form of CUDA 11.3 has no status, so its result says that nothing was found.
TEST(Lookup, FirstVersion) {
  using Lookup = CUresult (*)(const char*, void**, int, cuuint64_t);
  const auto lookup = find<Lookup>("cuGetProcAddress");
  void* address = nullptr;
  EXPECT_EQ(lookup("cuInit", &address, 11030, 0), CUDA_SUCCESS);
  EXPECT_EQ(address, dlsym(library(), "cuInit"));
  EXPECT_EQ(lookup("cuNoSuchFunction", &address, 11030, 0), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(address, nullptr);
}

TEST(Lookup, PrivateTablesAreRefused) {
  const void* table = &kAbiVersion;
  const CUuuid id{};
  EXPECT_EQ(CU(cuGetExportTable)(&table, &id), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(table, nullptr);
}

TEST(Errors, EveryCodeOfCudaHHasItsName) {
  const std::string text = read("cuda.h");
  const auto from = text.find("typedef enum cudaError_enum");
  const std::string body = text.substr(from, text.find("} CUresult;") - from);
  const std::regex codes(R"((CUDA_\w+)\s*=\s*(\d+))");
  int compared = 0;
  for (std::sregex_iterator at(body.begin(), body.end(), codes), end; at != end; ++at) {
    const char* name = nullptr;
    const char* words = nullptr;
    const auto code = static_cast<CUresult>(std::stoi((*at)[2]));
    ASSERT_EQ(CU(cuGetErrorName)(code, &name), CUDA_SUCCESS) << (*at)[1];
    ASSERT_EQ(CU(cuGetErrorString)(code, &words), CUDA_SUCCESS) << (*at)[1];
    EXPECT_EQ(name, (*at)[1]);
    EXPECT_NE(std::string(words), "");
    ++compared;
  }
  EXPECT_GT(compared, 90);
  const char* name = "x";
  EXPECT_EQ(CU(cuGetErrorName)(static_cast<CUresult>(12345), &name), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(name, nullptr);
}

}  // namespace
}  // namespace symmcts::platform::abi::test
