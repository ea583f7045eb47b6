import { readdirSync, readFileSync } from 'node:fs';

/**
 * What `private.schema_report()` tells: for each object what can differ in it, and how that stands. Definitions are SQL, those
 * of functions a hash; "off" is what is there and does nothing.
 */
export type Schema = Record<string, Record<string, string>>;

type Difference = { what: string; remedy: string };

const inSqlEditor = (sql: string) => `Run in the SQL editor: ${sql}`;

const withoutArguments = (object: string) => object.split('(', 1)[0] ?? object;

/** The file that an administrator can copy the object from, and the name of it without arguments. */
function sourceOf(object: string): { file: string; name: string } {
  const name = withoutArguments(object);
  const folder = new URL('../../supabase/schemas/', import.meta.url);
  const definition = new RegExp(`^create ${name.replaceAll('.', '\\.')}\\b`, 'm');
  const file = readdirSync(folder).find((each) =>
    definition.test(readFileSync(new URL(each, folder), 'utf8')),
  );
  return { file: `supabase/schemas/${file}`, name };
}

/** Makes an aspect of an object what it is in `to`; undefined takes it away. */
type Remedy = (part: { object: string; on: string; name: string; from?: string; to?: string }) => string;

const grant: Remedy = ({ on, name, to }) => {
  const [privileges, role] = name.split(' to ');
  return inSqlEditor(
    to === undefined
      ? `revoke ${privileges} on ${on} from ${role};`
      : `grant ${privileges} on ${on} to ${role};`,
  );
};

// Accounts that came while a trigger was off have no customer.
const missedCustomers =
  ' insert into public.customers select customer.* from auth.users as account, private.customer_of(account) as customer on conflict (id) do nothing;';

/** By the first word of an aspect. What is left are grants, which begin with their privilege. */
const remedies: Record<string, Remedy> = {
  'row-level': ({ object, on }) =>
    inSqlEditor(
      object.startsWith('role')
        ? `alter ${object} nobypassrls;`
        : `alter table ${on} enable row level security;`,
    ),
  membership: ({ object, name }) =>
    inSqlEditor(`revoke ${name.replace('membership of ', '')} from ${object.replace('role ', '')};`),
  security_invoker: ({ object }) => inSqlEditor(`alter ${object} set (security_invoker = true);`),
  definition: ({ object }) => {
    const { file, name } = sourceOf(object);
    return `Copy its definition from ${file} into the SQL editor, as "create or replace ${name}", and run it.`;
  },
  column: ({ object, name, to }) =>
    `In the Table Editor give ${object} this column again, renamed back if it has another name: ${name.replace('column ', '')} ${to}.`,
  constraint: ({ on, name, from, to }) =>
    inSqlEditor(`alter table ${on} ${from === undefined ? '' : `drop ${name}, `}add ${name} ${to};`),
  index: ({ on, name, from, to }) => {
    const index = `${on.split('.')[0]}.${name.replace('index ', '')}`;
    return inSqlEditor(`${from === undefined ? '' : `drop index ${index}; `}${to};`);
  },
  policy: ({ on, name, from, to }) =>
    inSqlEditor(
      [
        ...(from === undefined ? [] : [`drop ${name} on ${on};`]),
        ...(to === undefined ? [] : [`create ${name} on ${on} ${to};`]),
      ].join(' '),
    ),
  // The role of the SQL editor may replace a trigger on a table of Auth, but neither drop it nor switch it on.
  trigger: ({ on, to = '' }) =>
    inSqlEditor(
      `${to.replace(/^CREATE TRIGGER/, 'create or replace trigger')};${on === 'auth.users' ? missedCustomers : ''}`,
    ),
};

const kindOf = (aspect: string) => aspect.split(' ', 1)[0] ?? '';

/** What administrators may add to our tables without changing what anybody may do. */
const harmless = new Set(['column', 'constraint', 'index', 'trigger']);

function* differencesIn(object: string, shipped: Record<string, string>, found: Record<string, string>) {
  for (const name of new Set([...Object.keys(shipped), ...Object.keys(found)])) {
    const [to, from] = [shipped[name], found[name]];
    const kind = kindOf(name);
    if (from === to || (to === undefined && harmless.has(kind))) continue;
    const how =
      from === undefined
        ? 'is missing'
        : to === undefined
          ? 'does not belong to this service'
          : from === 'off'
            ? 'is switched off'
            : 'was changed';
    const what = `${object}: ${kind in remedies ? name : `the grant of ${name}`} ${how}.`;
    const on = object.replace(/^(table|view) /, '');
    const part = { object, on, name, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
    yield { what, remedy: (remedies[kind] ?? grant)(part) };
  }
}

/**
 * What of this service is not in a database as it was shipped. What administrators add under other names is none of it.
 * @returns a sentence and its remedy for each difference
 */
export function differences(shipped: Schema, found: Schema): Difference[] {
  const all: Difference[] = [];
  for (const [object, aspects] of Object.entries(shipped)) {
    const present = found[object];
    if (present !== undefined) {
      all.push(...differencesIn(object, aspects, present));
      continue;
    }
    const { file, name } = sourceOf(object);
    all.push({
      what: `${object} is missing.`,
      remedy: `If it was renamed, give it its name again. Otherwise run "create ${name}" of ${file}, and the grants after it, in the SQL editor.`,
    });
  }
  const functions = new Set(Object.keys(shipped).map(withoutArguments));
  for (const object of Object.keys(found)) {
    if (object in shipped || !object.startsWith('function ') || !functions.has(withoutArguments(object)))
      continue;
    all.push({
      what: `${object} does not belong to this service, and calls of the function of this name may reach it.`,
      remedy: inSqlEditor(`drop ${object};`),
    });
  }
  return all;
}
