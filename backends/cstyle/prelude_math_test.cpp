#include <catch2/catch.hpp>

#include "backends/cstyle/prelude_testing.h"

namespace uop::cstyle::testing {
namespace {

using Oracle = long double (*)(long double);

template <class F>
struct Worst {
  long double ulps = 0;
  F at = 0;
};

// The largest error in ulp, except near zero where the absolute error is within `near`, which then excuses it.
template <class F>
Worst<F> measure(const std::vector<F>& x, const std::vector<F>& got, const std::vector<long double>& want, long double near) {
  Worst<F> worst;
  for (size_t i = 0; i < x.size(); i++) {
    if (std::fabs(static_cast<long double>(got[i]) - want[i]) <= near && std::fabs(want[i]) < 0.01L) continue;
    const long double error = ulps(got[i], want[i]);
    if (error > worst.ulps) worst = {error, x[i]};
  }
  return worst;
}

template <class F>
void checkAccuracy(const std::string& helper, Oracle oracle, long double limit, long double near) {
  const std::vector<F> x = floatSamples<F>(sizeof(F) == 4 ? 4206599 : 300000);
  std::vector<long double> want;
  for (F v : x) want.push_back(oracle(v));
  for (const std::string& spec : runnableTargets()) {
    const Worst<F> worst = measure(x, Loops(spec).unary<F>(helper, x), want, near);
    WARN(helper << " on " << spec << ": at most " << static_cast<double>(worst.ulps) << " ulp, at " << worst.at);
    CHECK(worst.ulps <= limit);
  }
}

}  // namespace

TEST_CASE("EXP2, LOG2 and SIN of f32 keep the format's accuracy") {
  checkAccuracy<float>("uop_exp2_f32", [](long double x) { return std::exp2(x); }, 2, 0);
  checkAccuracy<float>("uop_log2_f32", [](long double x) { return std::log2(x); }, 2, 0);
  checkAccuracy<float>("uop_sin_f32", [](long double x) { return std::sin(x); }, 2, 1e-9L);
}

TEST_CASE("EXP2, LOG2 and SIN of f64 are good to a relative 1e-13") {
  checkAccuracy<double>("uop_exp2_f64", [](long double x) { return std::exp2(x); }, 4, 0);
  checkAccuracy<double>("uop_log2_f64", [](long double x) { return std::log2(x); }, 4, 0);
  checkAccuracy<double>("uop_sin_f64", [](long double x) { return std::sin(x); }, 4, 0);
}

TEST_CASE("dense samples where models use the functions") {
  std::vector<float> x;
  for (int i = -500000; i <= 500000; i++) x.push_back(static_cast<float>(i) * 4.00001e-5f);
  for (int i = 0; i < 300000; i++) x.push_back(static_cast<float>(i) * 3.495f);
  for (int k = 1; k < 333772; k++) x.push_back(static_cast<float>(k * 3.14159265358979323846));
  for (const std::string& spec : runnableTargets()) {
    Loops loops(spec);
    const auto sin = loops.unary<float>("uop_sin_f32", x), exp2 = loops.unary<float>("uop_exp2_f32", x);
    const auto log2 = loops.unary<float>("uop_log2_f32", x);
    long double sinWorst = 0, expWorst = 0, logWorst = 0;
    for (size_t i = 0; i < x.size(); i++) {
      const long double s = std::sin(static_cast<long double>(x[i]));
      if (std::fabs(s - sin[i]) > 1e-9L) sinWorst = std::max(sinWorst, ulps(sin[i], s));
      expWorst = std::max(expWorst, ulps(exp2[i], std::exp2(static_cast<long double>(x[i]))));
      logWorst = std::max(logWorst, ulps(log2[i], std::log2(static_cast<long double>(x[i]))));
    }
    WARN(spec << ": sin " << static_cast<double>(sinWorst) << ", exp2 " << static_cast<double>(expWorst) << ", log2 "
              << static_cast<double>(logWorst) << " ulp");
    CHECK(sinWorst <= 2);
    CHECK(expWorst <= 2);
    CHECK(logWorst <= 2);
  }
}

TEST_CASE("EXP2 of integers and LOG2 of powers of two are exact, to the ends of the range") {
  std::vector<float> integers, powers;
  for (int i = -149; i <= 127; i++) integers.push_back(static_cast<float>(i)), powers.push_back(std::ldexp(1.0f, i));
  std::vector<double> wide, widePowers;
  for (int i = -1074; i <= 1023; i++) wide.push_back(i), widePowers.push_back(std::ldexp(1.0, i));
  for (const std::string& spec : runnableTargets()) {
    Loops loops(spec);
    CHECK(loops.unary<float>("uop_exp2_f32", integers) == powers);
    CHECK(loops.unary<float>("uop_log2_f32", powers) == integers);
    CHECK(loops.unary<double>("uop_exp2_f64", wide) == widePowers);
    CHECK(loops.unary<double>("uop_log2_f64", widePowers) == wide);
  }
}

TEST_CASE("edges of EXP2, LOG2 and SIN") {
  const float inf = INFINITY, nan = NAN;
  const std::vector<float> x = {inf, -inf, nan, 0.0f, -0.0f, -1.0f, 1e30f, -1e30f, 128.0f, -150.0f, 1e-45f, -1e-45f};
  for (const std::string& spec : runnableTargets()) {
    Loops loops(spec);
    const auto e = loops.unary<float>("uop_exp2_f32", x), l = loops.unary<float>("uop_log2_f32", x);
    const auto s = loops.unary<float>("uop_sin_f32", x);
    CHECK(e[0] == inf);
    CHECK((e[1] == 0 && !std::signbit(e[1])));
    CHECK((std::isnan(e[2]) && std::isnan(l[2]) && std::isnan(s[2])));
    CHECK((e[3] == 1 && e[4] == 1 && e[6] == inf && e[7] == 0 && e[8] == inf && e[9] == 0));
    CHECK((l[0] == inf && l[3] == -inf && l[4] == -inf && l[10] == -149));
    CHECK((std::isnan(l[1]) && std::isnan(l[5]) && std::isnan(l[11])));
    CHECK((std::isnan(s[0]) && std::isnan(s[1]) && s[3] == 0 && !std::signbit(s[3]) && s[4] == 0 && std::signbit(s[4])));
    CHECK((s[10] == x[10] && s[11] == x[11]));
    const auto d = loops.unary<double>("uop_sin_f64", std::vector<double>{INFINITY, -INFINITY, NAN, -0.0, 1e300});
    CHECK((std::isnan(d[0]) && std::isnan(d[1]) && std::isnan(d[2]) && std::signbit(d[3])));
    CHECK(d[4] == Approx(std::sin(static_cast<long double>(1e300))).epsilon(1e-13));
  }
}

}  // namespace uop::cstyle::testing
