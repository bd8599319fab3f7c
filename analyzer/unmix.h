/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits observed counts into known signatures and a rest. Expectation maximisation for a Poisson
 * mixture (Dempster, Laird, Rubin 1977; as a multiplicative update Richardson 1972 and Lucy 1974),
 * maximising
 *
 *     sum_i ( b_i log m_i - m_i ) - (UNMIX_PRICE - 1) sum_i u_i,   m_i = sum_k a_k p_ki + u_i
 *
 * b: observed, a: amounts, p: signatures, u: what is unknown, one parameter a bin that costs
 * UNMIX_PRICE times what a signature's operation costs. So a bin may hold up to UNMIX_PRICE times
 * what the signatures predict before anything of it is called unknown, a signature survives if no
 * more than 1 - 1 / UNMIX_PRICE of it is missing from the data, and small parts are not drowned by
 * a large unknown elsewhere. The objective is concave: there is one best value.
 */
#ifndef UNBLEND_ANALYZER_UNMIX_H
#define UNBLEND_ANALYZER_UNMIX_H

#include <stddef.h>

#define UNMIX_PRICE 2.0

/* Tolerances: a round that moves less than this of all operations is the last. */
#define UNMIX_FINE   1e-6
#define UNMIX_COARSE 1e-4

/*
 * The first `real` bins of a signature's row sum to 1, or to less by the share of it that was not observed at all. The
 * bins behind them count some operations once more, by another property of which only the sums are known (where reads
 * start): a composite likelihood (Lindsay 1988; Varin, Reid, Firth 2011), the product of those of the two margins.
 */
struct unmixing {
    const double *observed; /* [bins] */
    size_t bins, real;
    const double *const *signatures; /* [components], each a row of [bins] */
    size_t components;
};

/*
 * Writes amounts[components] (operations) and parts[components * bins]: how much of each bin belongs to each component.
 * What is left is unknown. *score is the value of what was maximised, in nats: the higher, the better explained. 0, or
 * -ENOMEM; 1, and nothing is written, as soon as it is sure that the score does not pass the floor (-INFINITY: never).
 */
int unmix(const struct unmixing *of, double tolerance, double floor, double *amounts, double *parts, double *score);

#endif
