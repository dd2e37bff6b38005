/** Fields of the forms that import a repository: its address, a user name and a password. */
import { optional, text } from '../../../../platform/http/schema.ts';
import { maxUrlLength } from '../../../../projects/projects/imports/import_source.ts';
import type { FormState } from '../../parts/fields/form_page.ts';
import { input } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';

export const sourceParams = {
  import_url: text({ maxLength: maxUrlLength }),
  username: optional(text()),
  password: optional(text({ maxLength: 1_000 })),
};

/** Fields that a refused form shows again. A password is never sent back. */
export const shownSourceFields = ['import_url', 'username'] as const;

export type SourceValues = Record<(typeof shownSourceFields)[number], string>;

/** Hides the user name and password of an address; in one that is no URL, all before the last `@`. */
const withoutCredentials = (address: string): string =>
  URL.canParse(address.trim())
    ? address.replace(/^(\s*[a-z][a-z\d+.-]*:[/\\]*)[^/\\?#]*@/i, '$1')
    : address.replace(/^(\s*[a-z][a-z\d+.-]*:[/\\]*)?.*@/is, '$1');

/** Returns the user name in a URL, for its own field. */
const userNameIn = (address: string): string | null => {
  const name = URL.parse(address.trim())?.username ?? '';
  try {
    return name === '' ? null : decodeURIComponent(name);
  } catch {
    return null;
  }
};

export const sourceFields = ({ values, problems }: FormState<SourceValues>): Html =>
  html`${input({
    name: 'import_url',
    label: 'Git repository URL',
    hint: 'Such as https://git.example.com/group/project.git',
    type: 'url',
    value: withoutCredentials(values.import_url),
    required: true,
    problems,
  })}<div class="columns">${input({
    name: 'username',
    label: 'User name (optional)',
    value: values.username || userNameIn(values.import_url),
    autocomplete: 'off',
    problems,
  })}${input({
    name: 'password',
    label: 'Password or token (optional)',
    type: 'password',
    autocomplete: 'off',
    problems,
  })}</div><p class="hint">User name and password are encrypted until the import has ended, and then forgotten.</p>`;
