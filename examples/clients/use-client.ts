// Uses openapi-fetch with the types of openapi-typescript as an app does, and prints each result.
import createClient from 'openapi-fetch';
import type { components, paths } from './sounds.d.ts';

const [, , url = '', email = '', password = '', category = ''] = process.argv;
const client = createClient<paths>({ baseUrl: url });

/** Returns the data of a response. @throws Error with the message of the service */
function dataOf<T>({ data, error }: { data?: T; error?: components['schemas']['ApiErrorResponse'] }): T {
  if (data === undefined) throw new Error(error?.error.message);
  return data;
}

/** Prints the status, the code and the reason of a call that must fail. */
function failure({ error, response }: { error?: components['schemas']['ApiErrorResponse']; response: Response }) {
  console.log(response.status, error?.error.code, response.headers.get('X-Error-Reason'));
}

const { data: session } = dataOf(await client.POST('/auth/signin', { body: { email, password } }));
client.use({
  onRequest({ request }) {
    request.headers.set('Authorization', `Bearer ${session.access_token}`);
    return request;
  },
});
console.log('signed in', session.user.email);

const ids: string[] = [];
let cursor: string | null = null;
do {
  const query: paths['/sounds']['get']['parameters']['query'] = { category, limit: 2 };
  if (cursor !== null) query.cursor = cursor;
  const page = dataOf(await client.GET('/sounds', { params: { query } }));
  console.log('page', page.data.length);
  ids.push(...page.data.map(({ id }) => id));
  cursor = page.next_cursor;
} while (cursor !== null);
console.log('sounds', ...ids);

const [id = ''] = ids;
const { data: detail } = dataOf(await client.GET('/sounds/{id}', { params: { path: { id } } }));
console.log('detail', detail.id, detail.title, detail.audio_url_expires_in);
const { data: played } = dataOf(await client.POST('/sounds/{id}/play', { params: { path: { id } } }));
console.log('played', played.play_count);
dataOf(await client.POST('/favorites', { body: { sound_id: id } }));
for (const favorite of dataOf(await client.GET('/favorites')).data) {
  console.log('favorite', favorite.sound_id, favorite.sounds?.title);
}

dataOf(await client.PATCH('/me/customer', { body: { phone: '+49 170 1234567' } }));
dataOf(await client.PATCH('/me/customer', { body: { full_name: null } }));
const { data: customer } = dataOf(await client.GET('/me/customer'));
console.log('customer', customer.full_name, customer.phone, customer.source);

failure(await client.POST('/auth/signin', { body: { email, password: 'wrong' } }));
failure(await client.POST('/auth/verify', { body: { type: 'signup', email, code: '12345678', password } }));
failure(await client.GET('/sounds/{id}', { params: { path: { id: '00000000-0000-4000-8000-000000000000' } } }));
failure(await client.POST('/auth/recover', { body: { email } }));
