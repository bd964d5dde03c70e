// Simulated collections on a GPU: one thread draws one sample of one cell.
//
// The law is that of sampler_kernels.py, drawn another way: relevant documents of a bin are
// Poisson, other documents conditionally binomial from the top bin down. A GPU has no cache
// to keep tables in, and arithmetic to spare.

typedef unsigned long long word;

#define GOLDEN 0x9E3779B97F4A7C15ULL

__device__ __forceinline__ word mixed_bits(word z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

struct Stream {
    word key, step;
    __device__ __forceinline__ word bits() { return mixed_bits(key + (++step) * GOLDEN); }
    // Strictly between 0 and 1.
    __device__ __forceinline__ double uniform()
    {
        return ((double)(bits() >> 12) + 0.5) * (1.0 / 4503599627370496.0);
    }
};

struct LogFactorials {
    const double *table;
    int size;
    __device__ __forceinline__ double operator()(int n) const
    {
        return n < size ? table[n] : lgamma(n + 1.0);
    }
};

// Inversion for small means; above, Hoermann's transformed rejection (PTRS, 1993).
__device__ int poisson(Stream &stream, double mean, double zero_chance, const LogFactorials &lf)
{
    if (mean < 10.0) {
        double u = stream.uniform(), chance = zero_chance;
        int k = 0;
        while (u > chance && k < 1000) {
            u -= chance;
            chance *= mean / ++k;
        }
        return k;
    }
    double root = sqrt(mean), log_mean = log(mean);
    double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    double log_inverse_alpha = log(1.1239 + 1.1328 / (b - 3.4)), sure = 0.9277 - 3.6224 / (b - 2.0);
    for (;;) {
        double u = stream.uniform() - 0.5, v = stream.uniform(), us = 0.5 - fabs(u);
        double k = floor((2.0 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= sure) return (int)k;
        if (k < 0.0 || (us < 0.013 && v > us)) continue;
        if (log(v) + log_inverse_alpha - log(a / (us * us) + b)
            <= k * log_mean - mean - lf((int)k)) return (int)k;
    }
}

// Inversion for small means; above, Hoermann's transformed rejection (BTRS, 1993).
__device__ int binomial(Stream &stream, int n, double p, const LogFactorials &lf)
{
    if (n <= 0 || p <= 0.0) return 0;
    if (p >= 1.0) return n;
    bool flipped = p > 0.5;
    if (flipped) p = 1.0 - p;
    int k = 0;
    if (n * p < 10.0) {
        double odds = p / (1.0 - p), none = exp(n * log1p(-p));
        double u = stream.uniform(), chance = none;
        while (u > chance && k < n) {
            u -= chance;
            ++k;
            chance *= odds * (n - k + 1) / k;
        }
    } else {
        double spread = sqrt(n * p * (1.0 - p)), b = 1.15 + 2.53 * spread;
        double a = -0.0873 + 0.0248 * b + 0.01 * p, centre = n * p + 0.5;
        double sure = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spread;
        double log_odds = 0.0, at_mode = 0.0;
        int mode = (int)floor((n + 1) * p);
        bool ready = false;
        for (;;) {
            double u = stream.uniform() - 0.5, v = stream.uniform(), us = 0.5 - fabs(u);
            double drawn = floor((2.0 * a / us + b) * u + centre);
            if (drawn < 0.0 || drawn > n) continue;
            k = (int)drawn;
            if (us >= 0.07 && v <= sure) break;
            if (!ready) {
                log_odds = log(p / (1.0 - p));
                at_mode = lf(mode) + lf(n - mode);
                ready = true;
            }
            if (log(v * alpha / (a / (us * us) + b))
                <= at_mode - lf(k) - lf(n - k) + (k - mode) * log_odds) break;
        }
    }
    return flipped ? n - k : k;
}

struct Gain {
    const double *cumulated;
    double per_relevant, per_other, constant;
    int first_only;
};

// What `a` relevant documents below `above` relevant and `others` other ones add.
__device__ __forceinline__ double worth(const Gain &gain, int above, int others, int a)
{
    if (gain.first_only) return above == 0 ? gain.cumulated[others + 1] : 0.0;
    double growth = gain.cumulated[above + a + others] - gain.cumulated[above + others];
    return gain.per_relevant * a + (gain.per_other * others + gain.constant) * growth;
}

// Relevant documents of bin i: the same number whenever it is asked for.
__device__ __forceinline__ int relevant_in(
    word key, int i, double mean, double zero_chance, const LogFactorials &lf)
{
    if (mean <= 0.0) return 0;
    Stream own = {mixed_bits(key ^ ((word)(i + 1) * 0xD1342543DE82EF95ULL)), 0};
    return poisson(own, mean, zero_chance, lf);
}

// Of c relevant documents keep those that a draw of `wanted` out of `left` picks.
__device__ int kept_of(Stream &stream, int c, int &wanted, int &left)
{
    int kept = 0;
    for (; c > 0; --c, --left)
        if (stream.uniform() * left < wanted) {
            ++kept;
            --wanted;
        }
    return kept;
}

extern "C" __global__ void sample_cells(
    const long long *starts, const double *relevant, const double *zero_chance,
    const double *share, const unsigned char *mingled, const long long *n_relevant,
    const long long *depths, const long long *judged, const unsigned char *has_others,
    const double *log_factorials, int n_log_factorials, const double *cumulated,
    double per_relevant, double per_other, double constant, int first_only,
    const double *scale, int base_kind, word key, long long first, int count, int n_cells,
    double *out, unsigned long long *truncated)
{
    int cell = blockIdx.x, replicate = blockIdx.y * blockDim.x + threadIdx.x;
    if (replicate >= count) return;
    double *value = out + (long long)replicate * n_cells + cell;
    if (n_relevant[cell] == 0) {
        *value = 0.0;
        return;
    }
    LogFactorials lf = {log_factorials, n_log_factorials};
    Gain gain = {cumulated, per_relevant, per_other, constant, first_only};
    word cell_key = mixed_bits(key ^ mixed_bits((word)(cell + 1) * GOLDEN));
    word own = mixed_bits(cell_key + (word)(first + replicate + 1) * GOLDEN);
    Stream stream = {own, 0};
    int depth = (int)depths[cell];
    long long start = starts[cell], stop = starts[cell + 1];
    int sampled = 0;
    for (long long i = start; i < stop; ++i)
        sampled += relevant_in(own, (int)(i - start), relevant[i], zero_chance[i], lf);
    int wanted = min(sampled, depth), left = sampled, n_sampled = wanted;
    bool too_many = sampled > depth;
    if (too_many) atomicAdd(truncated, 1ULL);
    int room = has_others[cell] ? depth - n_sampled : 0;
    int above = 0, others = 0;
    double total = 0.0;
    for (long long i = start; i < stop; ++i) {
        int c = relevant_in(own, (int)(i - start), relevant[i], zero_chance[i], lf);
        if (too_many) c = kept_of(stream, c, wanted, left);
        int k = binomial(stream, room, share[i], lf);
        room -= k;
        if (mingled[i] && c > 0 && k > 0) {
            for (; c > 0; --c, ++above) {
                while (k > 0 && stream.uniform() * (c + k) >= c) {
                    --k;
                    ++others;
                }
                total += worth(gain, above, others, 1);
            }
            others += k;
        } else {
            others += k;
            if (c > 0) total += worth(gain, above, others, c);
            above += c;
        }
    }
    int base = n_sampled;
    if (base_kind == 0) base = max((int)judged[cell], n_sampled);
    if (base_kind == 2) {
        double mean = (double)(judged[cell] - n_relevant[cell]);
        if (mean > 0.0) base += poisson(stream, mean, exp(-mean), lf);
    }
    *value = total * scale[base];
}

// Standard errors of all pairs' mean differences in each replicate, into [pair, all samples].
extern "C" __global__ void standard_errors(
    const double *centred, const double *gram, int n_runs, int n_topics, int count,
    long long n_samples, long long first, float *errors)
{
    int i = blockIdx.x, b = blockIdx.y;
    const double *g = gram + (long long)b * n_runs * n_runs;
    const double *x = centred + (long long)b * n_runs * n_topics;
    long long before = (long long)i * n_runs - (long long)i * (i + 1) / 2 - i - 1;
    for (int j = i + 1 + threadIdx.x; j < n_runs; j += blockDim.x) {
        double total = g[i * n_runs + i] + g[j * n_runs + j];
        double squares = total - 2.0 * g[i * n_runs + j];
        if (squares <= 1e-3 * total) {
            squares = 0.0;
            for (int t = 0; t < n_topics; ++t) {
                double d = x[i * n_topics + t] - x[j * n_topics + t];
                squares += d * d;
            }
        }
        errors[(before + j) * n_samples + first + b] =
            (float)sqrt(squares / ((double)n_topics * (n_topics - 1.0)));
    }
}

__device__ __forceinline__ double t_of(
    const double *a, const double *b, const float *error, long long i, double off, double &d)
{
    d = fabs(a[i] - b[i] - off);
    if (d <= 1e-12) d = 0.0;
    return d > 0.0 ? d / (double)error[i] : 0.0;
}

// One block a pair: how often it is significant, and the difference that goes with its k-th
// largest |t|, found digit by digit (a radix selection over the bits of positive floats).
extern "C" __global__ void pair_rates(
    const double *means, const float *errors, const int *pairs, const double *centre,
    long long n_samples, double critical, long long k, double *rates, double *shown, int n_pairs)
{
    __shared__ unsigned int histogram[256];
    __shared__ unsigned int above;
    __shared__ word prefix, rest, place;
    int p = blockIdx.x;
    const double *a = means + pairs[2 * p] * n_samples, *b = means + pairs[2 * p + 1] * n_samples;
    const float *own = errors + (long long)p * n_samples;
    double d;
    for (int recentred = 0; recentred < 2; ++recentred) {
        double off = recentred ? centre[p] : 0.0;
        if (threadIdx.x == 0) {
            above = 0;
            prefix = 0;
            rest = k;
            place = ~0ULL;
        }
        __syncthreads();
        for (int shift = 56; shift >= 0; shift -= 8) {
            for (int i = threadIdx.x; i < 256; i += blockDim.x) histogram[i] = 0;
            __syncthreads();
            for (long long i = threadIdx.x; i < n_samples; i += blockDim.x) {
                double t = t_of(a, b, own, i, off, d);
                word bits = __double_as_longlong(t);
                if (shift == 56 && t > critical) atomicAdd(&above, 1u);
                if (shift == 56 || (bits >> (shift + 8)) == prefix)
                    atomicAdd(&histogram[(bits >> shift) & 255], 1u);
            }
            __syncthreads();
            if (threadIdx.x == 0) {
                int digit = 255;
                while (digit > 0 && histogram[digit] < rest) rest -= histogram[digit--];
                prefix = (prefix << 8) | (word)digit;
            }
            __syncthreads();
        }
        for (long long i = threadIdx.x; i < n_samples; i += blockDim.x)
            if ((word)__double_as_longlong(t_of(a, b, own, i, off, d)) == prefix)
                atomicMin(&place, (word)i);
        __syncthreads();
        if (threadIdx.x == 0) {
            t_of(a, b, own, (long long)place, off, d);
            shown[(long long)recentred * n_pairs + p] = d;
            if (!recentred) rates[p] = (double)above / n_samples;
        }
        __syncthreads();
    }
}

// One block a sample: bins of differences and reversals, ties, Kendall's S, and ranks.
extern "C" __global__ void compare_rankings(
    const double *raw, const double *simulated, int n_runs, int *counts, int *errors,
    long long *agreement, long long *ties, long long *zeros, unsigned long long *ranks)
{
    __shared__ int own_counts[21], own_errors[21];
    __shared__ long long own[3];
    const double *x = simulated + (long long)blockIdx.x * n_runs;
    if (threadIdx.x < 21) own_counts[threadIdx.x] = own_errors[threadIdx.x] = 0;
    if (threadIdx.x < 3) own[threadIdx.x] = 0;
    __syncthreads();
    long long s = 0, tied = 0;
    for (int i = threadIdx.x; i < n_runs; i += blockDim.x) {
        int better = 0;
        for (int j = 0; j < n_runs; ++j) {
            better += x[j] > x[i];
            if (j <= i) continue;
            double d = x[i] - x[j], raw_d = raw[i] - raw[j];
            int bin = min(20, (int)(fabs(d) / 0.01 + 0.5e-9));
            atomicAdd(&own_counts[bin], 1);
            if (raw_d * d < 0.0) atomicAdd(&own_errors[bin], 1);
            s += ((raw_d > 0.0) - (raw_d < 0.0)) * ((d > 0.0) - (d < 0.0));
            tied += d == 0.0;
        }
        atomicAdd(&ranks[(long long)i * n_runs + better], 1ULL);
    }
    atomicAdd((unsigned long long *)&own[0], (unsigned long long)s);
    atomicAdd((unsigned long long *)&own[1], (unsigned long long)tied);
    __syncthreads();
    if (threadIdx.x < 21) {
        counts[blockIdx.x * 21 + threadIdx.x] = own_counts[threadIdx.x];
        errors[blockIdx.x * 21 + threadIdx.x] = own_errors[threadIdx.x];
    }
    if (threadIdx.x == 0) {
        agreement[blockIdx.x] = own[0];
        ties[blockIdx.x] = own[1];
        zeros[blockIdx.x] = own[1];
    }
}
