import type { Response } from 'express';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { type Limit, limits } from '../../src/limits/table.ts';
import { environment } from '../support/server-process.ts';

const statuses = [200, 400, 401, 403, 404, 413, 429, 500, 502, 503];

test('limits count results of the caller, and no errors or limits of Auth', () => {
  const counted = ({ counts = () => true }: Limit) =>
    statuses.filter((statusCode) => {
      const locals = { caller: { via: 'api_key', keyHash: `unknown ${statusCode}` } };
      return counts({ statusCode, locals } as unknown as Response, new Set());
    });
  const table: Record<string, Limit> = limits(loadConfig(environment()).rateLimits);
  const wrong = [400, 401];
  const created = [200, 400];
  const successful = [200];
  expect(Object.fromEntries(Object.entries(table).map(([name, limit]) => [name, counted(limit)]))).toEqual({
    requests: statuses,
    unknownApiKeys: statuses.filter((status) => status !== 429),
    failedSignInsPerClient: wrong,
    failedSignIns: wrong,
    failedSignInsPerHour: wrong,
    failedSignInsPerNetwork: wrong,
    failedSignInsInTotal: wrong,
    signInsTriedAnyway: statuses,
    signIns: successful,
    failedCodesPerClient: wrong,
    failedCodes: wrong,
    failedCodesPerNetwork: wrong,
    failedCodesInTotal: wrong,
    codesTriedAnyway: statuses,
    rejectedPasswords: wrong,
    signUps: created,
    guests: created,
    mailsFromClient: successful,
    mailsPerNetwork: successful,
    mailsToAddress: successful,
    recoveryMailsPerNetwork: successful,
    recoveryMailsToAddress: successful,
    mailsSentAnyway: statuses,
    exports: successful,
  });
});
