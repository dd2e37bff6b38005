/** Fields of the secrets of a hook, which no page shows. */
import { checkbox, input } from '../../parts/form.ts';
import { type FormProblems, summaryText } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { type KeyValueRow, isLost, keyValueRows, typeAgain } from './key_value_rows.ts';

export const secretNames = ['token', 'signing_token'] as const;

type SecretState = {
  values: {
    flags: ReadonlySet<string>;
    stored: ReadonlySet<string>;
    typed: ReadonlySet<string>;
    headers: readonly KeyValueRow[];
    variables: readonly KeyValueRow[];
  };
  problems: FormProblems;
};

/** Returns the problems of a form, and of a refused one that the secrets in it were not saved. */
export const addLostSecrets = ({ values, problems }: SecretState): FormProblems => {
  const { typed, headers, variables } = values;
  if (typed.size === 0 && ![...headers, ...variables].some(isLost)) return problems;
  const lost = [...typed].map((name) => [name, [...(problems.fields[name] ?? []), typeAgain]]);
  return {
    text: `${summaryText(problems)} The secrets that you typed were not saved: type them again.`,
    fields: { ...problems.fields, ...Object.fromEntries(lost) },
  };
};

const secrets = [
  { name: 'token', label: 'Secret token', hint: 'Sent in the header X-Gitlab-Token.' },
  {
    name: 'signing_token',
    label: 'Signing token',
    hint: 'Signs the webhook-signature header. Default: the secret token.',
  },
] as const;

/** Renders the fields of the tokens. */
export const secretFields = ({ values, problems }: SecretState): Html =>
  html`${secrets.map(({ name, label, hint }) => {
    const isStored = values.stored.has(name);
    const removal = checkbox({
      name: `remove_${name}`,
      label: `Remove the ${label.toLowerCase()}`,
      checked: values.flags.has(`remove_${name}`),
    });
    return html`${input({
      name,
      label: `${label} (optional)`,
      hint: isStored ? `${hint} Stored. Leave it empty to keep it.` : hint,
      type: 'password',
      autocomplete: 'off',
      value: '',
      problems,
    })}${isStored && removal}`;
  })}`;

/** Renders the rows of headers and URL variables. */
export const secretRows = ({ values, problems }: SecretState): Html =>
  html`${keyValueRows(
    {
      name: 'custom_headers',
      legend: 'Custom headers',
      one: 'Header',
      hint: 'Sent with each delivery. Values are stored encrypted and never shown again.',
      problems,
    },
    values.headers,
  )}${keyValueRows(
    {
      name: 'url_variables',
      legend: 'URL variables',
      one: 'Variable',
      hint: 'Parts of the URL that are secret. Values are stored encrypted and never shown again.',
      problems,
    },
    values.variables,
  )}`;
