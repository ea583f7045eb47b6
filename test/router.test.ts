import express from 'express';
import request from 'supertest';
import { expect } from 'vitest';
import { z } from 'zod';
import { loadConfig } from '../src/config.ts';
import { createContext } from '../src/context.ts';
import { Done, endpoint } from '../src/endpoint.ts';
import { createRateLimits } from '../src/http/rate-limit.ts';
import { endpointRouter } from '../src/http/router.ts';
import { environment } from './support/server-process.ts';
import { test } from './support/test.ts';

test('a fixed path is found wherever a path with a parameter in its place is declared', async () => {
  const asked: string[] = [];
  const declare = (path: `/${string}`, method: 'get' | 'delete', operation: string) =>
    endpoint({
      method,
      path,
      operation,
      summary: '',
      description: '',
      guard: 'none',
      params: z.object({ id: z.string().optional() }),
      response: Done,
      errors: [],
      cache: 'no-store',
      handle: () => {
        asked.push(operation);
        return Promise.resolve({ data: { ok: true } });
      },
    });
  const endpoints = [
    declare('/favorites/{id}', 'delete', 'remove'),
    declare('/favorites/{id}', 'get', 'one'),
    declare('/favorites/count', 'get', 'count'),
    declare('/favorites', 'get', 'all'),
  ];
  const config = loadConfig(environment());
  const context = createContext(config);
  const limits = createRateLimits(config, null, context.log);
  const app = express();
  app.use((_req, res, next) => {
    res.locals.caller = null;
    next();
  });
  app.use(endpointRouter(endpoints, context, limits));
  for (const path of ['/favorites', '/favorites/count', '/favorites/7'])
    await request(app).get(path).expect(200);
  await request(app).delete('/favorites/7').expect(200);
  expect(asked).toEqual(['all', 'count', 'one', 'remove']);
  await context.close();
});
