import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { type Device, errorAnswer, faultsOf, successAnswer, test } from './device.ts';

const unknown = 'a_value_of_tomorrow';

const reasonOf = async ({ api, network }: Device, status: number, code: string) => {
  const answer = errorAnswer(status, code, { 'X-Error-Reason': unknown, 'Retry-After': '3600' });
  network.before = faultsOf('PATCH /me/customer', answer, answer); // a 401 is repeated after a refresh
  await expect(api.customer.update({})).rejects.toMatchObject({ status, code, reason: unknown });
};

/** Sends an unknown value of each enumeration, and checks what the client makes of it. */
const checks: Record<string, (device: Device) => Promise<unknown>> = {
  InvalidRequestReason: (device) => reasonOf(device, 400, 'invalid_request'),
  UnauthorizedReason: (device) => reasonOf(device, 401, 'unauthorized'),
  RateLimitedReason: (device) => reasonOf(device, 429, 'rate_limited'),
  async ErrorCode({ api, network }) {
    network.before = faultsOf('GET /me', errorAnswer(418, unknown));
    await expect(api.me()).rejects.toMatchObject({ status: 418, code: unknown });
  },
  async IdTokenProvider({ api, network }) {
    network.before = faultsOf('GET /config', successAnswer({ data: { id_token_providers: [unknown] } }));
    expect(await api.config()).toEqual({ id_token_providers: [unknown] });
  },
  async PlayStatus({ api, network, store }) {
    network.before = (request) =>
      successAnswer({
        data: JSON.parse(request.body.toString()).plays.map(({ id = '' }) => ({ id, status: unknown })),
      });
    await api.plays.record(crypto.randomUUID());
    await api.plays.flush();
    expect([...store.items.keys()].filter((key) => key.startsWith('sounds.plays'))).toEqual([]);
  },
  async AuthVia({ api, network }) {
    network.before = faultsOf('GET /me', successAnswer({ data: { id: 'an id' }, auth_via: unknown }));
    expect(await api.me()).toEqual({ id: 'an id' });
  },
  async CustomerSource({ api, network }) {
    network.before = faultsOf('GET /me/customer', successAnswer({ data: { source: unknown } }));
    expect(await api.customer.get()).toEqual({ source: unknown });
  },
  HomeSectionMode: (device) => sectionWith(device, { mode: unknown }),
  HomeRuleType: (device) => sectionWith(device, { rule_type: unknown }),
  async CatalogueChangeKind({ api, network }) {
    const changes = [
      { kind: 'sound', id: 'first', sound: { id: 'first', title: 'A bowl' } },
      { kind: unknown, id: 'other', [unknown]: { id: 'other' } },
      { kind: 'sound', id: 'last', sound: { id: 'last', title: 'Rain' } },
    ];
    const page = { data: changes, next: 'a.1', has_more: false, reset: true };
    network.before = faultsOf('GET /catalogue/changes', successAnswer(page));
    await api.offline.sync();
    expect((await api.offline.list()).map(({ id }) => id).toSorted()).toEqual(['first', 'last']);
  },
};

async function sectionWith({ api, network }: Device, value: object) {
  const section = { id: 'an id', slug: 'new', sort_order: 0, created_at: '', ...value };
  network.before = faultsOf('GET /home', successAnswer({ sections: [{ ...section, sounds: [] }] }));
  expect(await api.home()).toMatchObject([value]);
  const change = { kind: 'home_section', id: section.id, home_section: { ...section, sound_ids: [] } };
  const page = { data: [change], next: 'a.1', has_more: false, reset: true };
  network.before = faultsOf('GET /catalogue/changes', successAnswer(page));
  await api.offline.sync();
  expect(await api.offline.home()).toMatchObject([value]);
}

describe('unknown values of enumerations', () => {
  test('every enumeration in responses of the document has a check', () => {
    const { components } = JSON.parse(readFileSync('openapi.json', 'utf8'));
    const names = Object.keys(components.schemas).filter((name) => components.schemas[name].enum);
    expect(names.filter((name) => name !== 'SoundOrder').toSorted()).toEqual(Object.keys(checks).toSorted());
  });

  test.for(Object.entries(checks))('an unknown value of %s breaks no call', async ([, check], { device }) => {
    await check(device);
  });
});
