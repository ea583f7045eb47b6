import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Sounds } from '../src/index.ts';
import { createLists } from '../src/lists.ts';
import { errorAnswer, faultsOf, nameOf, successAnswer, test } from './device.ts';

const unknown = 'a_value_of_tomorrow';

/** Status, code and reason of an error for each enumeration, one of them an unknown value. */
const errors: Record<string, [number, string, string?]> = {
  InvalidRequestReason: [400, 'invalid_request', unknown],
  UnauthorizedReason: [401, 'unauthorized', unknown],
  NotFoundReason: [404, 'not_found', unknown],
  RateLimitedReason: [429, 'rate_limited', unknown],
  ErrorCode: [418, unknown],
};

const section = { id: 'an id', slug: 'new', sort_order: 0, created_at: '', sounds: [] };

/** Request, unknown value in its response, and the call that returns it, for each enumeration. */
const results: Record<string, [string, unknown, (api: Sounds) => Promise<unknown>]> = {
  AuthVia: ['GET /me', { id: 'an id' }, (api) => api.me()],
  CustomerSource: ['GET /me/customer', { source: unknown }, (api) => api.customer.get()],
  HomeRuleType: ['GET /home', [{ ...section, rule_type: unknown }], (api) => api.home()],
  HomeSectionMode: ['GET /home', [{ ...section, mode: unknown }], (api) => api.home()],
  IdTokenProvider: ['GET /config', { id_token_providers: [unknown] }, (api) => api.config()],
};

test('calls accept unknown values of every enumeration of the OpenAPI document', async ({ device }) => {
  const { api, network } = device;
  const { components } = JSON.parse(readFileSync('openapi.json', 'utf8'));
  const names = Object.keys(components.schemas).filter((name) => components.schemas[name].enum);
  const checked = [
    ...Object.keys({ ...errors, ...results }),
    'PlayStatus',
    'ProgressStatus',
    'ListStatus',
    'CatalogueChangeKind',
  ];
  const onlySent = ['SoundOrder', 'VerifyType'];
  expect(names.sort()).toEqual([...checked, ...onlySent].sort());

  for (const [name, [status, code, reason = '']] of Object.entries(errors)) {
    const answer = errorAnswer(status, code, { 'X-Error-Reason': reason, 'Retry-After': '3600' });
    network.before = faultsOf('PATCH /me/customer', answer, answer); // the client repeats a 401 after a refresh
    await expect(api.customer.update({}), name).rejects.toMatchObject({ status, code, reason });
  }
  for (const [name, [request, value, call]] of Object.entries(results)) {
    network.before = faultsOf(request, successAnswer({ data: value, sections: value, auth_via: unknown }));
    expect(await call(api), name).toEqual(value);
  }

  network.before = (request) => {
    if (nameOf(request) !== 'POST /plays') return;
    const [{ id }] = JSON.parse(request.body.toString()).plays;
    return successAnswer({ data: [{ id, status: unknown }] });
  };
  await api.plays.record(crypto.randomUUID());
  await api.plays.flush();
  expect(device.keys('sounds.plays.')).toEqual([]);

  const sound_id = crypto.randomUUID();
  network.before = faultsOf('PUT /progress', successAnswer({ data: [{ sound_id, status: unknown }] }));
  await api.progress.save(sound_id, 30);
  await api.progress.flush();
  expect(device.keys('sounds.progress.')).toEqual([]);

  const id = crypto.randomUUID();
  const lists = createLists({ api, store: device.store });
  network.before = faultsOf('PUT /lists', successAnswer({ data: [{ id, status: unknown, list: null }] }));
  await lists.save({ id, name: 'Night', is_mix: false, items: [], version: 0 });
  await expect(lists.flush()).rejects.toMatchObject({ status: 400 });
  expect(await lists.all()).toMatchObject([{ id }]); // stays on the device

  const copied = { ...section, mode: unknown, rule_type: unknown };
  const data = [
    { kind: 'sound', id: 'first', sound: { id: 'first', title: 'A bowl' } },
    { kind: unknown, id: 'other', [unknown]: { id: 'other' } },
    { kind: 'home_section', id: 'an id', home_section: { ...copied, sound_ids: ['first', 'last'] } },
    { kind: 'sound', id: 'last', sound: { id: 'last', title: 'Rain' } },
  ];
  const page = successAnswer({ data, next: 'a.1', has_more: false, reset: true });
  network.before = faultsOf('GET /catalogue/changes', page);
  await api.offline.sync();
  const sounds = [{ title: 'A bowl' }, { title: 'Rain' }];
  expect(await api.offline.home()).toMatchObject([{ mode: unknown, rule_type: unknown, sounds }]);
});
