import { parseArgs } from 'node:util';

/** Parses the arguments of `npm run doctor`. @throws Error that says what is wrong, without an address with a secret */
export function parseArguments(args: string[]) {
  const { values } = parseArgs({
    args,
    options: { gateway: { type: 'string' }, json: { type: 'boolean', default: false }, help: { type: 'boolean' } },
  });
  const gateway = values.gateway === undefined ? null : URL.parse(values.gateway);
  if (values.gateway !== undefined && !gateway) throw new Error('--gateway must be an address such as https://host.');
  if (gateway?.username || gateway?.password) throw new Error('--gateway must not contain a user or a password.');
  return { json: values.json, help: values.help === true, gateway };
}
