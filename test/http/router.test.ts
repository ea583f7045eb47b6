import express from 'express';
import request from 'supertest';
import { expect, type TestContext } from 'vitest';
import { z } from 'zod';
import { loadConfig } from '../../src/config.ts';
import { createContext } from '../../src/context.ts';
import { Done, type Endpoint, endpoint } from '../../src/endpoint.ts';
import { endpointRouter } from '../../src/http/router.ts';
import { createLimiters } from '../../src/limits/limiters.ts';
import { environment } from '../support/server-process.ts';
import { test } from '../support/test.ts';

/** The routes of these endpoints, as everybody may call them. */
function routesOf(endpoints: readonly Endpoint[], onTestFinished: TestContext['onTestFinished']) {
  const config = loadConfig(environment());
  const context = createContext(config);
  onTestFinished(() => context.close());
  const app = express();
  app.use((_req, res, next) => {
    res.locals.caller = null;
    next();
  });
  return app.use(endpointRouter(endpoints, context, createLimiters(context)));
}

const undescribed = { summary: '', description: '', guard: 'none' } as const;

test('a fixed path precedes a path with a parameter in its place', async ({ onTestFinished }) => {
  const asked: string[] = [];
  const declare = (path: `/${string}`, method: 'get' | 'delete', operation: string) =>
    endpoint({
      method,
      path,
      operation,
      ...undescribed,
      params: z.object({ id: z.string().optional() }),
      response: Done,
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
  const app = routesOf(endpoints, onTestFinished);
  for (const path of ['/favorites', '/favorites/count', '/favorites/7'])
    await request(app).get(path).expect(200);
  await request(app).delete('/favorites/7').expect(200);
  expect(asked).toEqual(['all', 'count', 'one', 'remove']);
});

test('simultaneous reads share a response only if their paths and queries are equal', async ({
  onTestFinished,
}) => {
  const { promise: allAsked, resolve } = Promise.withResolvers<void>();
  const runs: string[] = [];
  const read = endpoint({
    method: 'get',
    path: '/shelves/{id}',
    operation: 'readShelf',
    ...undescribed,
    params: z.object({ id: z.string() }),
    query: z.object({ page: z.string() }),
    response: z.object({ asked: z.string() }),
    cache: 'revalidate',
    shared: true,
    handle: async ({ params, query }) => {
      const asked = `/shelves/${params.id}?page=${query.page}`;
      if (runs.push(asked) === 4) resolve();
      await allAsked;
      return { asked };
    },
  });
  const app = routesOf([read], onTestFinished);
  const paths = ['a', 'b'].flatMap((id) => ['1', '2'].map((page) => `/shelves/${id}?page=${page}`));
  const answers = await Promise.all(paths.map((path) => request(app).get(path).expect(200)));
  expect(answers.map(({ body }) => body.asked)).toEqual(paths);
  expect(runs.toSorted()).toEqual(paths);
});
