/** Options of a push (`git push -o ci.skip`) as payloads show them. Pure. */

/** Namespaces that payloads show, with their short forms. */
const namespaces: Record<string, string> = {
  ci: 'ci',
  integrations: 'integrations',
  merge_request: 'merge_request',
  mr: 'merge_request',
};

/** Options that can be given more than once: counts by value. */
const repeatable = [
  'merge_request.label',
  'merge_request.unlabel',
  'merge_request.assign',
  'merge_request.unassign',
];

type Options = Record<string, Record<string, string | true | Record<string, number>>>;

const parse = (option: string): { namespace: string; key: string; value: string | true } | null => {
  const [, space = '', key = '', , value] = /^(\w+)\.(\w+)(=(.*))?$/s.exec(option) ?? [];
  const namespace = Object.hasOwn(namespaces, space) ? namespaces[space] : undefined;
  return namespace === undefined ? null : { namespace, key, value: value ?? true };
};

/** Returns the options by namespace and key; unknown options are omitted. */
export const groupPushOptions = (options: readonly string[]): Options => {
  const grouped: Options = {};
  for (const option of options) {
    const parsed = parse(option);
    if (parsed === null) continue;
    const { namespace, key, value } = parsed;
    const group = (grouped[namespace] ??= {});
    if (value === true || !repeatable.includes(`${namespace}.${key}`)) group[key] = value;
    else {
      const counts = group[key];
      const countsByValue = typeof counts === 'object' ? counts : {};
      group[key] = { ...countsByValue, [value]: (countsByValue[value] ?? 0) + 1 };
    }
  }
  return grouped;
};
