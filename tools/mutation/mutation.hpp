// What tools/mutate writes into its copy of the headers. A site `a + b` becomes `a + Plus<'s'>{17} + b`: a stand-in
// that an operator of the same precedence makes of the left operand, so that the text around needs no parsing. It
// computes a - b in the process whose GARRA_MUTANT is 17, a + b in all others. In constant expressions no site does
// anything.
#pragma once

#include <type_traits>

#include "garra/core/scalar.hpp"

extern "C" {
extern int garra_mutant;
extern unsigned char garra_reached[];  // by site: 1 where it was run, 2 where only without a form that compiles
}

#define ALWAYS [[gnu::always_inline]] constexpr

namespace garra_mutation {

ALWAYS bool on(int site) {
  if (std::is_constant_evaluated()) return false;
  garra_reached[site] = 1;
  return garra_mutant == site;
}
ALWAYS bool off(int site) { return !on(site); }
ALWAYS void no_form(int site) {
  if (!std::is_constant_evaluated() && garra_reached[site] == 0) garra_reached[site] = 2;
}

// Kinds: 's' another operator, 'd' the right operand dropped, 'n' negated.
#define BINARY(NAME, OP, OTHER)                                                                          \
  template <char kKind>                                                                                  \
  struct NAME {                                                                                          \
    int site;                                                                                            \
  };                                                                                                     \
  template <char kKind, class L>                                                                         \
  struct NAME##Left {                                                                                    \
    const L& l;                                                                                          \
    int site;                                                                                            \
  };                                                                                                     \
  template <char kKind, class L>                                                                         \
  ALWAYS NAME##Left<kKind, L> operator OP(const L& l, NAME<kKind> m) {                                   \
    return {l, m.site};                                                                                  \
  }                                                                                                      \
  template <char kKind, class L, class R>                                                                \
  ALWAYS auto operator OP(NAME##Left<kKind, L> m, const R& r)->std::remove_cvref_t<decltype(m.l OP r)> { \
    using T = std::remove_cvref_t<decltype(m.l OP r)>;                                                   \
    if constexpr (kKind == 's' && requires { T(m.l OTHER r); }) {                                        \
      if (on(m.site)) return T(m.l OTHER r);                                                             \
    } else if constexpr (kKind == 'd' && requires { T(m.l); }) {                                         \
      if (on(m.site)) return T(m.l);                                                                     \
    } else if constexpr (kKind == 'n' && requires { T(!(m.l OP r)); }) {                                 \
      if (on(m.site)) return T(!(m.l OP r));                                                             \
    } else {                                                                                             \
      no_form(m.site);                                                                                   \
    }                                                                                                    \
    return m.l OP r;                                                                                     \
  }
BINARY(Plus, +, -)
BINARY(Minus, -, +)
BINARY(Times, *, /)
BINARY(Over, /, *)
BINARY(Less, <, <=)
BINARY(LessEqual, <=, <)
BINARY(Greater, >, >=)
BINARY(GreaterEqual, >=, >)
BINARY(Equal, ==, !=)
BINARY(Unequal, !=, ==)

/// -a is Negative{} ->* a, which binds as a unary minus does.
struct Negative {
  int site;
};
template <class A>
ALWAYS auto operator->*(Negative m, const A& a) -> std::remove_cvref_t<decltype(-a)> {
  using T = std::remove_cvref_t<decltype(-a)>;
  if constexpr (requires { T(a); }) {
    if (on(m.site)) return T(a);
  } else {
    no_form(m.site);
  }
  return -a;
}

/// a += b is a += Added{} = b.
template <char kKind>
struct Added {
  int site;
  template <class B>
  ALWAYS B operator=(const B& b) const {
    if constexpr (kKind == 's' && requires { B(-b); }) {
      if (on(site)) return B(-b);
    } else if constexpr (kKind == 'd') {
      if (on(site)) return B{};
    } else {
      no_form(site);
    }
    return b;
  }
};

template <class T>
ALWAYS std::remove_cvref_t<T> one_more(int site, const T& a) {
  using V = std::remove_cvref_t<T>;
  return on(site) ? V(a + V(1)) : a;
}
struct First {  // int k = First{} = 0
  int site;
  template <class T>
  ALWAYS T operator=(const T& a) const {
    return on(site) ? T(a + T(1)) : a;
  }
};
template <class C>
ALWAYS bool negated(int site, const C& c) {
  return on(site) ? !static_cast<bool>(c) : static_cast<bool>(c);
}

using garra::abs;
using garra::all;
using garra::any;
using garra::fma;
using garra::fnma;
using garra::max;
using garra::min;
using garra::select;

/// fma(a, b, c): 's' a sign, 'd' without the term c, 'p' without the product.
#define FUSED(NAME, FUNCTION, OTHER, SIGN)                                \
  template <char kKind>                                                   \
  struct NAME {                                                           \
    int site;                                                             \
    template <class A, class B, class C>                                  \
    ALWAYS auto operator()(const A& a, const B& b, const C& c) const {    \
      using T = std::remove_cvref_t<decltype(FUNCTION(a, b, c))>;         \
      if constexpr (kKind == 's' && requires { T(OTHER(a, b, c)); }) {    \
        if (on(site)) return T(OTHER(a, b, c));                           \
      } else if constexpr (kKind == 'd' && requires { T(SIGN(a* b)); }) { \
        if (on(site)) return T(SIGN(a * b));                              \
      } else if constexpr (kKind == 'p' && requires { T(c); }) {          \
        if (on(site)) return T(c);                                        \
      } else {                                                            \
        no_form(site);                                                    \
      }                                                                   \
      return T(FUNCTION(a, b, c));                                        \
    }                                                                     \
  };
FUSED(Fma, fma, fnma, +)
FUSED(Fnma, fnma, fma, -)

#define SWAPPED(NAME, FUNCTION, OTHER)                         \
  struct NAME {                                                \
    int site;                                                  \
    template <class... A>                                      \
    ALWAYS auto operator()(const A&... a) const {              \
      using T = std::remove_cvref_t<decltype(FUNCTION(a...))>; \
      if constexpr (requires { T(OTHER); }) {                  \
        if (on(site)) return T(OTHER);                         \
      } else {                                                 \
        no_form(site);                                         \
      }                                                        \
      return T(FUNCTION(a...));                                \
    }                                                          \
  };
SWAPPED(Min, min, max(a...))
SWAPPED(Max, max, min(a...))
SWAPPED(Any, any, all(a...))
SWAPPED(All, all, any(a...))
SWAPPED(Abs, abs, (a, ...))

struct Select {
  int site;
  template <class M, class A, class B>
  ALWAYS auto operator()(const M& m, const A& a, const B& b) const {
    using T = std::remove_cvref_t<decltype(select(m, a, b))>;
    if constexpr (requires { T(select(m, b, a)); }) {
      if (on(site)) return T(select(m, b, a));
    } else {
      no_form(site);
    }
    return T(select(m, a, b));
  }
};

}  // namespace garra_mutation

#undef ALWAYS
#undef BINARY
#undef FUSED
#undef SWAPPED
