import request, { type Response, type Test } from 'supertest';
import { expect } from 'vitest';
import { reasonsOfCode } from '../../src/error-reasons.ts';
import { departures } from '../openapi/departures.ts';
import { noteSecret, noteSecretsOf } from './secrets.ts';

/** Second argument of `.auth(token, bearer)` for an access token or an API key. */
export const bearer = { type: 'bearer' } as const;

const codeOfStatus: Record<number, string> = {
  400: 'invalid_request',
  401: 'unauthorized',
  404: 'not_found',
  405: 'invalid_request',
  429: 'rate_limited',
  500: 'server_error',
};

/** Expects the common parts of all responses: request id, clock, rate-limit headers, and JSON or no body. */
export function expectCommonParts({ status, headers, text, body }: Response) {
  expect(headers['x-request-id']).toMatch(/^[\w.:-]{1,128}$/);
  expect(headers['x-service-time'], `X-Service-Time of a ${status}`).toMatch(/^\d+$/);
  for (const name of ['limit', 'remaining', 'reset']) {
    expect(headers[`x-ratelimit-${name}`], `X-RateLimit-${name} of a ${status}`).toMatch(/^\d+$/);
  }
  const ofCode: Record<string, object> = reasonsOfCode;
  const reasons = Object.keys(ofCode[codeOfStatus[status] ?? ''] ?? { undefined });
  expect(reasons, `X-Error-Reason of a ${status}`).toContain(String(headers['x-error-reason']));
  if (status < 400 && headers['cache-control'] === 'no-store') expect(headers).not.toHaveProperty('etag');
  if (!text) {
    expect(body).toEqual({}); // supertest's body of an empty or binary response
    return;
  }
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  if (status >= 400) {
    expect(body).toEqual({ error: { code: codeOfStatus[status], message: expect.stringMatching(/\.$/) } });
  }
}

function expectDocumented({ request: { method, url }, status, headers, text, body }: Response) {
  const path = new URL(url).pathname.split('/api/v1', 2)[1];
  if (path) {
    expect(departures(method, path, { status, headers, body: text ? body : undefined })).toEqual([]);
  }
}

/** Plugin for superagent that checks each response and records the exchanged secrets. */
const checked = (test: Test) =>
  void test
    .expect(({ request, body }) => {
      noteSecret(request.get('Authorization')?.replace(/^bearer +/i, ''));
      for (const exchanged of [request.toJSON().data, body.data]) noteSecretsOf(exchanged);
    })
    .expect(expectCommonParts)
    .expect(expectDocumented);

/**
 * Returns a client of a gateway. It expects that every response has the common parts and conforms to the OpenAPI
 * document, and records every credential, so that tests can search the gateway's log for it.
 * @param url URL of the gateway with the version prefix
 */
export const apiAt = (url: string) => request.agent(url).use(checked);

export type Api = ReturnType<typeof apiAt>;
