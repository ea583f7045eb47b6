// Uses openapi-fetch with the types of openapi-typescript as an app does, and prints each result.
import createClient from 'openapi-fetch';
import type { components, paths } from './sounds.d.ts';

interface Result<T> {
  data?: T;
  error?: components['schemas']['ApiErrorResponse'];
  response: Response;
}

/** Returns the data of a response. @throws Error with the message of the service */
function dataOf<T>({ data, error }: Result<T>): T {
  if (data === undefined) throw new Error(error?.error.message);
  return data;
}

/** Prints that a call succeeded, or its status, its code and its reason. */
export function show(name: string, { error, response }: Result<unknown>) {
  const failure = error && [response.status, error.error.code, response.headers.get('X-Error-Reason')];
  console.log(name, ...(failure ?? ['ok']));
}

const [, , url = '', email = '', password = '', category = ''] = process.argv;
const client = createClient<paths>({ baseUrl: url });
const { data: session } = dataOf(await client.POST('/auth/signin', { body: { email, password } }));
client.use({
  onRequest({ request }) {
    request.headers.set('Authorization', `Bearer ${session.access_token}`);
    return request;
  },
});
console.log('signed in', session.user.email);

let cursor: string | null = null;
do {
  const query: paths['/sounds']['get']['parameters']['query'] = { category, limit: 2 };
  if (cursor !== null) query.cursor = cursor;
  const page = dataOf(await client.GET('/sounds', { params: { query } }));
  console.log('page', ...page.data.map(({ title }) => title));
  cursor = page.next_cursor;
} while (cursor !== null);

dataOf(await client.PATCH('/me/customer', { body: { phone: '+49 170 1234567', full_name: null } }));
const { data: customer } = dataOf(await client.GET('/me/customer'));
console.log('customer', customer.full_name, customer.phone);

// EVERY CALL
