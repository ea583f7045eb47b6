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

/** What differs in an object; `on` is the object as SQL names it in grants. */
type Part = {
  object: string;
  on: string;
  name: string;
  expected: string | undefined;
  actual: string | undefined;
};

/** What makes a part what is expected, or takes it away where nothing is. */
type Remedy = (part: Part) => string;

const grant: Remedy = ({ on, name, expected }) => {
  const [privileges, role] = name.split(' to ');
  return inSqlEditor(
    expected === undefined
      ? `revoke ${privileges} on ${on} from ${role};`
      : `grant ${privileges} on ${on} to ${role};`,
  );
};

// Accounts that came while a trigger was off have no customer.
const missedCustomers =
  ' insert into public.customers select customer.* from auth.users as account, private.customer_of(account) as customer on conflict (id) do nothing;';

/** By the first word of a part. What is left are grants, which begin with their privilege. */
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
  column: ({ object, name, expected }) =>
    `In the Table Editor give ${object} this column again, renamed back if it has another name: ${name.replace('column ', '')} ${expected}.`,
  constraint: ({ on, name, expected, actual }) =>
    inSqlEditor(`alter table ${on} ${actual === undefined ? '' : `drop ${name}, `}add ${name} ${expected};`),
  index: ({ on, name, expected, actual }) => {
    const index = `${on.split('.')[0]}.${name.replace('index ', '')}`;
    return inSqlEditor(`${actual === undefined ? '' : `drop index ${index}; `}${expected};`);
  },
  policy: ({ on, name, expected, actual }) => {
    const drop = actual === undefined ? '' : `drop ${name} on ${on};`;
    const create = expected === undefined ? '' : `create ${name} on ${on} ${expected};`;
    return inSqlEditor(`${drop} ${create}`.trim());
  },
  // The role of the SQL editor may replace a trigger on a table of Auth, but neither drop it nor switch it on.
  trigger: ({ on, expected = '' }) =>
    inSqlEditor(
      `${expected.replace(/^CREATE TRIGGER/, 'create or replace trigger')};${on === 'auth.users' ? missedCustomers : ''}`,
    ),
};

/** What administrators may add to our tables without changing what anybody may do. */
const harmless = new Set(['column', 'constraint', 'index', 'trigger']);

/**
 * How Postgres writes the condition of a trigger depends on the types of its columns, and those of Auth's are text in some releases
 * and varchar in others.
 */
const withoutTypes = (definition = '') => definition.replace(/::(text|character varying)|[()]/g, '');

function howItDiffers({ expected, actual }: Part): string {
  if (actual === undefined) return 'is missing';
  if (expected === undefined) return 'does not belong to this service';
  return actual === 'off' ? 'is switched off' : 'was changed';
}

function* differencesIn(object: string, shipped: Record<string, string>, found: Record<string, string>) {
  const on = object.replace(/^(table|view) /, '');
  for (const name of new Set([...Object.keys(shipped), ...Object.keys(found)])) {
    const part = { object, on, name, expected: shipped[name], actual: found[name] };
    const kind = name.split(' ', 1)[0] ?? '';
    if (part.expected === part.actual || (part.expected === undefined && harmless.has(kind))) continue;
    if (kind === 'trigger' && withoutTypes(part.expected) === withoutTypes(part.actual)) continue;
    const what = `${object}: ${kind in remedies ? name : `the grant of ${name}`} ${howItDiffers(part)}.`;
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
    // The tables of Auth and Storage are there, whatever of ours hangs on them.
    const present = found[object] ?? (/^table (auth|storage)\./.test(object) ? {} : undefined);
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
