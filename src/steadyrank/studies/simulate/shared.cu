// Documents that all runs share, on a GPU: one thread walks one ranking in one collection.
//
// Counts and ranks are those of the processor, word for word, and the measures add up in the
// same order: compiled without fused multiplication, values are the processor's to the last bit.
// Counts lie as [document][sample], so that the threads of a warp read one line of memory.

typedef unsigned long long word;

#define GOLDEN 0x9E3779B97F4A7C15ULL
#define TIE 0x6A09E667F3BCC909ULL
#define SIDE_BY_SIDE 64
#define HALF_SIDE 32

enum Kind { AP, NDCG, P, R, RPREC, RR, RBP, ERR, NERR, Q, NG, IPREC, SUCCESS };

__device__ __forceinline__ word mixed_bits(word z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

__device__ __forceinline__ word stream_of(word key, word code)
{
    return mixed_bits(key ^ mixed_bits(code));
}

// Poisson(1) by inversion of 32 random bits.
__device__ __forceinline__ unsigned char poisson(unsigned half)
{
    return (half >= 1580030169u) + (half >= 3160060337u) + (half >= 3950075422u)
         + (half >= 4213413783u) + (half >= 4279248374u) + (half >= 4292415292u)
         + (half >= 4294609778u) + (half >= 4294923276u) + (half >= 4294962463u)
         + (half >= 4294966817u) + (half >= 4294967253u) + (half >= 4294967292u);
}

// Counts of documents low to low + n in `width` samples from `first` on, both multiples of 64.
extern "C" __global__ void draw_counts(
    const word *hashes, const int *topic_of, const word *keys, long long low, long long n,
    long long first, int width, unsigned char *counts)
{
    long long place = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int words = width / 2;
    if (place >= n * words) return;
    long long document = place / words;
    int at = (int)(place % words), chunk = at / HALF_SIDE, i = at % HALF_SIDE;
    word start = stream_of(keys[topic_of[low + document]], hashes[low + document])
               + (word)((first + chunk * SIDE_BY_SIDE) / 2) * GOLDEN;
    word drawn = mixed_bits(start + (word)(i + 1) * GOLDEN);
    unsigned char *row = counts + document * width + chunk * SIDE_BY_SIDE;
    row[i] = poisson((unsigned)drawn);
    row[i + HALF_SIDE] = poisson((unsigned)(drawn >> 32));
}

struct Measure {
    int kind, cutoff;
    double parameter;
    const double *gain;    // of each grade
    const double *weight;  // of each rank: log2(rank + 1), or p^(rank - 1)
};

// What a value is divided by: a figure of the collection, which all runs share.
__device__ double best_of(const Measure &measure, const int *grades, int n_gainful,
                          const unsigned char *counts, int width, int relevant)
{
    if (relevant == 0) return 0.0;
    if (measure.kind == AP) return (double)relevant;
    if (measure.kind != NDCG && measure.kind != NERR) return 1.0;
    double total = 0.0, go_on = 1.0;
    int i = 0;
    for (int number = 0; number < n_gainful && i < measure.cutoff; ++number) {
        double value = measure.gain[grades[number]];
        if (measure.kind == NDCG && value == 0.0) break;
        int copies = counts[(long long)number * width];
        for (; copies > 0 && i < measure.cutoff; --copies, ++i)
            if (measure.kind == NDCG) total += value / measure.weight[i + 1];
            else {
                total += go_on * value / (i + 1);
                go_on *= 1.0 - value;
            }
    }
    return total;
}

// Relevant documents of each topic and sample, and what values are divided by.
extern "C" __global__ void ideal_lists(
    const long long *documents, const long long *ideal, const int *all_grades, int first_topic,
    int n_samples, int width, const unsigned char *counts, int kind, int cutoff, double parameter,
    const double *gain, const double *weight, int *relevant, double *best, word *without)
{
    int own = blockIdx.x, topic = first_topic + own;
    int sample = blockIdx.y * blockDim.x + threadIdx.x;
    if (sample >= n_samples) return;
    Measure measure = {kind, cutoff, parameter, gain, weight};
    const int *grades = all_grades + ideal[topic];
    int n_gainful = (int)(ideal[topic + 1] - ideal[topic]), count = 0;
    const unsigned char *column = counts
        + (documents[topic] - documents[first_topic]) * width + sample;
    for (int number = 0; number < n_gainful; ++number)
        count += column[(long long)number * width];
    relevant[own * width + sample] = count;
    best[own * width + sample] = best_of(measure, grades, n_gainful, column, width, count);
    if (count == 0 && n_gainful > 0) atomicAdd(without, 1ULL);
}

// One ranking in one collection, while it is walked from the top.
struct Walk {
    Measure measure;
    int limit, relevant;
    const int *grades;
    const unsigned char *column;
    int width, n_gainful;
    int found, reached, ideal_number, ideal_left;
    double total, gained, best, go_on;

    __device__ void start()
    {
        found = reached = 0;
        ideal_number = -1;
        ideal_left = 0;
        total = gained = best = 0.0;
        go_on = 1.0;
    }

    // Gain of the ideal top `rank`.
    __device__ void climb(int rank)
    {
        while (reached < rank && reached < relevant) {
            while (ideal_left == 0) ideal_left = column[(long long)(++ideal_number) * width];
            best += measure.gain[grades[ideal_number]];
            --ideal_left;
            ++reached;
        }
    }

    __device__ void take(int rank, int grade)
    {
        if (rank > limit) return;
        double value = measure.gain[grade];
        ++found;
        switch (measure.kind) {
        case AP: total += (double)found / rank; break;
        case NDCG: if (value != 0.0) total += value / measure.weight[rank]; break;
        case RBP: total += value * measure.weight[rank]; break;
        case RR: if (found == 1) total = 1.0 / rank; break;
        case ERR: case NERR:
            total += go_on * value / rank;
            go_on *= 1.0 - value;
            break;
        case Q:
            gained += value;
            climb(rank);
            total += (found + measure.parameter * gained) / (rank + measure.parameter * best);
            break;
        case NG: if (rank == 1) total = value; break;
        case IPREC:
            if (found >= (int)(measure.parameter * relevant + 0.9))
                total = fmax(total, (double)found / rank);
            break;
        }
    }

    __device__ double value()
    {
        switch (measure.kind) {
        case P: return (double)found / measure.cutoff;
        case R: case RPREC: return (double)found / relevant;
        case SUCCESS: return found > 0 ? 1.0 : 0.0;
        case RBP: return (1.0 - measure.parameter) * total;
        case Q: return total / min(relevant, measure.cutoff);
        case NG:
            climb(1);
            return best == 0.0 ? 0.0 : total / best;
        }
        return total;
    }
};

struct Ranking {
    const word *hashes;
    const int *places;
    word key;
    long long sample;

    __device__ word stream(int number) const { return stream_of(key, hashes[number] ^ TIE); }
    __device__ word tie_word(word stream, int copy) const
    {
        return mixed_bits(stream + (word)(sample * 16 + copy + 1) * GOLDEN);
    }
};

// Tied documents stand in the order of their random words; those with a gain, one by one.
__device__ void take_tied(Walk &walk, const Ranking &ranking, long long place, int size, int above)
{
    word last = 0;
    for (bool begun = false;; begun = true) {
        word next = ~0ULL;
        int grade = -1;
        for (int i = 0; i < size; ++i) {
            int number = ranking.places[place + i];
            if (number >= walk.n_gainful) continue;
            word stream = ranking.stream(number);
            for (int copy = walk.column[(long long)number * walk.width] - 1; copy >= 0; --copy) {
                word drawn = ranking.tie_word(stream, copy);
                if ((!begun || drawn > last) && drawn <= next) {
                    next = drawn;
                    grade = walk.grades[number];
                }
            }
        }
        if (grade < 0) return;
        int before = 0;
        for (int i = 0; i < size; ++i) {
            int number = ranking.places[place + i];
            word stream = ranking.stream(number);
            for (int copy = walk.column[(long long)number * walk.width] - 1; copy >= 0; --copy)
                before += ranking.tie_word(stream, copy) < next;
        }
        walk.take(above + before + 1, grade);
        last = next;
    }
}

// values[sample][cell] of every run on the topics from `first_topic` on.
extern "C" __global__ void score_lists(
    const long long *documents, const word *hashes, const long long *ideal, const int *all_grades,
    const long long *starts, const int *places, const long long *events, const int *at,
    const int *size, const long long *depths, const word *keys, int first_topic, int n_topics,
    int n_own, long long first, int n_samples, int width, const unsigned char *counts, int kind,
    int cutoff, double parameter, const double *gain, const double *weight, const int *relevant,
    const double *best, int n_cells, double *values)
{
    int own = blockIdx.x % n_own, topic = first_topic + own;
    long long cell = (long long)(blockIdx.x / n_own) * n_topics + topic;
    int sample = blockIdx.y * blockDim.x + threadIdx.x;
    if (sample >= n_samples) return;
    double *value = values + (long long)sample * n_cells + cell;
    double divisor = best[own * width + sample];
    if (divisor == 0.0) {
        *value = 0.0;
        return;
    }
    const unsigned char *column = counts
        + (documents[topic] - documents[first_topic]) * width + sample;
    Walk walk;
    walk.measure = {kind, cutoff, parameter, gain, weight};
    walk.relevant = relevant[own * width + sample];
    walk.grades = all_grades + ideal[topic];
    walk.n_gainful = (int)(ideal[topic + 1] - ideal[topic]);
    walk.column = column;
    walk.width = width;
    int deepest = (int)min(depths[cell], 0x7fffffffLL);
    walk.limit = min(deepest, kind == RPREC ? walk.relevant : cutoff);
    walk.start();
    Ranking ranking = {hashes + documents[topic], places, keys[topic], first + sample};
    long long place = starts[cell];
    int position = 0;
    for (long long event = events[cell]; event < events[cell + 1]; ++event) {
        long long here = starts[cell] + at[event];
#pragma unroll 8
        for (; place < here; ++place) position += column[(long long)places[place] * width];
        if (position >= walk.limit) break;
        if (size[event] == 1) {
            int number = places[here], copies = column[(long long)number * width];
            for (int copy = 1; copy <= copies; ++copy)
                walk.take(position + copy, walk.grades[number]);
        } else
            take_tied(walk, ranking, here, size[event], position);
        for (long long stop = here + size[event]; place < stop; ++place)
            position += column[(long long)places[place] * width];
    }
    *value = walk.value() / divisor;
}
