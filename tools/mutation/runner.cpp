// Linked into every test program of tools/mutate: which mutant runs, and which sites each test reaches.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

extern "C" {
int garra_mutant = 0;
unsigned char garra_reached[GARRA_SITES] = {};
}

namespace {

[[gnu::constructor(101)]] void choose() {
  if (const char* number = std::getenv("GARRA_MUTANT")) garra_mutant = std::atoi(number);
}

/// One line a test: its name, whether it passed, its seconds of processor, the sites. What is reached before the first
/// test stands under "*".
class Reached : public testing::EmptyTestEventListener {
 public:
  explicit Reached(const char* file) : out_(std::fopen(file, "w")) {}
  void OnTestProgramStart(const testing::UnitTest&) override { line("*", true, 0); }
  void OnTestStart(const testing::TestInfo&) override { began_ = std::clock(); }
  void OnTestEnd(const testing::TestInfo& info) override {
    const std::string name = std::string(info.test_suite_name()) + "." + info.name();
    line(name.c_str(), info.result()->Passed() && !info.result()->Skipped(),
         double(std::clock() - began_) / CLOCKS_PER_SEC);
  }

 private:
  void line(const char* name, bool passed, double seconds) {
    std::fprintf(out_, "%s\t%d\t%.4f\t", name, int(passed), seconds);
    for (int k = 0; k < GARRA_SITES; ++k)
      if (garra_reached[k]) std::fprintf(out_, "%d:%d ", k, int(garra_reached[k]));
    std::fprintf(out_, "\n");
    std::fflush(out_);
    std::memset(garra_reached, 0, sizeof garra_reached);
  }
  std::FILE* out_;
  std::clock_t began_ = 0;
};

/// A mutant dies of the first failure.
class Dies : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& info) override {
    name_ = std::string(info.test_suite_name()) + "." + info.name();
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::printf("KILLED BY %s\n", name_.c_str());
    std::fflush(stdout);
    _exit(1);
  }

  std::string name_;
};

const bool listening = [] {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (const char* file = std::getenv("GARRA_REACHED")) listeners.Append(new Reached(file));
  if (garra_mutant != 0) listeners.Append(new Dies);
  return true;
}();

}  // namespace
