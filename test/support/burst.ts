import { expect } from 'vitest';

/**
 * The answers to a burst of requests that the machine serves within the deadlines of the service: 500 is one that is late, and
 * has the burst made again.
 */
export async function answersInTime<T extends { status: number }>(burst: () => Promise<T[]>): Promise<T[]> {
  let answers: T[] = [];
  const someAreLate = async () => {
    answers = await burst();
    return answers.some(({ status }) => status === 500);
  };
  await expect.poll(someAreLate).toBe(false);
  return answers;
}
