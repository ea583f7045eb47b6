import type { Round } from './generator.ts';
import type { Process } from './processes.ts';

/** Something that can be put under load, beside others. */
export type Side = {
  run: (durationMs: number) => Promise<Round>;
  /** The process whose time is counted. */
  process?: Process;
};

/** One round of one side. Latencies in milliseconds; processor time in microseconds a request. */
export type Figures = { perSecond: number; p50: number; p99: number; cpuUs: number };

const quantile = (values: readonly number[], share: number) => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
};

export const median = (values: readonly number[]) => quantile(values, 0.5);

async function measureOnce({ run, process }: Side, durationMs: number): Promise<Figures> {
  const before = await process?.usage();
  const { seconds, latencies } = await run(durationMs);
  const after = await process?.usage();
  return {
    perSecond: latencies.length / seconds,
    p50: median(latencies),
    p99: quantile(latencies, 0.99),
    cpuUs: before && after ? (after.cpuUs - before.cpuUs) / latencies.length : Number.NaN,
  };
}

/**
 * Measures sides in turn, so that whatever else the machine does meets all of them alike; every other round goes
 * through them backwards.
 * @returns for each side its rounds, in the same order
 */
export async function inTurn(
  sides: readonly Side[],
  { rounds, roundMs, warmUpMs }: { rounds: number; roundMs: number; warmUpMs: number },
): Promise<Figures[][]> {
  for (const side of sides) await side.run(warmUpMs);
  const figures: Figures[][] = sides.map(() => []);
  for (let round = 0; round < rounds; round++) {
    const order = [...sides.keys()];
    if (round % 2 === 1) order.reverse();
    for (const index of order) figures[index]?.push(await measureOnce(sides[index] as Side, roundMs));
  }
  return figures;
}

/**
 * Measures groups of sides, all of them in every round: a minute in which the machine is busy meets all groups, instead
 * of being all that one of them gets.
 * @returns for each group what inTurn returns
 */
export async function groupsInTurn(
  groups: readonly (readonly Side[])[],
  plan: Parameters<typeof inTurn>[1],
): Promise<Figures[][][]> {
  const figures = await inTurn(groups.flat(), plan);
  return groups.map(({ length }) => figures.splice(0, length));
}

/** A figure of two sides, compared round by round: the median and the quartiles of the ratio. */
export function ratio(
  subject: readonly Figures[] = [],
  yardstick: readonly Figures[] = [],
  of: keyof Figures = 'perSecond',
) {
  const ratios = subject.map((figures, round) => figures[of] / (yardstick[round]?.[of] ?? Number.NaN));
  return { median: median(ratios), low: quantile(ratios, 0.25), high: quantile(ratios, 0.75) };
}

export const medianOf = (figures: readonly Figures[] = [], of: keyof Figures = 'perSecond') =>
  median(figures.map((round) => round[of]));
