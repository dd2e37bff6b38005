/** Reads the configuration of a project's changelog from its repository. */
import { type Code, getDefaultRef } from '../../code/repository/find_code.ts';
import { loadFile } from '../../code/repository/files/find_file.ts';
import { resolveRevision } from '../../code/repository/refs/resolve.ts';
import { type Pattern, compilePattern } from '../../platform/pattern.ts';
import { changelogFailure } from './template.ts';

const defaultConfigFile = '.gitlab/changelog_config.yml';
const maxConfigBytes = 65_536;

const defaultTemplate = `{% if categories %}
{% each categories %}
### {{ title }} ({% if single_change %}1 change{% else %}{{ count }} changes{% end %})

{% each entries %}
- [{{ title }}]({{ commit.web_url }})\\
{% if author.credit %} by {{ author.reference }}{% end %}\\
{% if merge_request %} ([merge request]({{ merge_request.web_url }})){% end %}

{% end %}

{% end %}
{% else %}
No changes.
{% end %}
`;

const defaultTagPattern =
  '^v?(?P<major>0|[1-9]\\d*)\\.(?P<minor>0|[1-9]\\d*)\\.(?P<patch>0|[1-9]\\d*)(?:-(?P<pre>[0-9A-Za-z.-]+))?(?:\\+(?P<meta>[0-9A-Za-z.-]+))?$';

export type ChangelogConfig = {
  date_format: string;
  template: string;
  /** Names of categories by the value of the trailer, in the order in which they are shown. */
  categories: Map<string, string>;
  tagPattern: Pattern;
};

const readText = (values: Record<string, unknown>, name: string, otherwise: string): string => {
  const value = values[name];
  if (value === undefined || value === null) return otherwise;
  if (typeof value !== 'string') throw changelogFailure(`${name} of the configuration must be a text`);
  return value;
};

const readCategories = (value: unknown): Map<string, string> => {
  if (value === undefined || value === null) return new Map();
  if (typeof value !== 'object' || Array.isArray(value))
    throw changelogFailure('categories of the configuration must map names to titles');
  return new Map(Object.entries(value).map(([name, title]) => [name, String(title)]));
};

/** @throws Failure 422 for what is not valid, or not supported */
const readValues = (values: Record<string, unknown>): ChangelogConfig => {
  if (values['include_groups'] !== undefined)
    throw changelogFailure('include_groups of the configuration is not supported');
  const tagPattern = compilePattern(readText(values, 'tag_regex', defaultTagPattern));
  if (tagPattern === null) throw changelogFailure('tag_regex of the configuration is invalid');
  return {
    date_format: readText(values, 'date_format', '%Y-%m-%d'),
    template: readText(values, 'template', defaultTemplate),
    categories: readCategories(values['categories']),
    tagPattern,
  };
};

const parseYaml = async (text: string): Promise<unknown> => {
  const { parse } = await import('yaml');
  try {
    return parse(text, { schema: 'core', maxAliasCount: 20 }) as unknown;
  } catch {
    throw changelogFailure('the configuration is not valid YAML');
  }
};

/** Loads the configuration of the default branch; or the defaults if it has none. @throws Failure 422 */
export const readChangelogConfig = async (code: Code, path = defaultConfigFile): Promise<ChangelogConfig> => {
  const ref = getDefaultRef(code.project);
  const head = ref === null ? null : await resolveRevision(code, ref);
  const loaded =
    head === null ? null : await loadFile(code, { commit: head.commit, path, ref: 'HEAD' }, maxConfigBytes);
  if (loaded === null) return readValues({});
  if (loaded.content === null) throw changelogFailure('the configuration is too large');
  const values = await parseYaml(loaded.content.toString('utf8'));
  if (values === null) return readValues({});
  if (typeof values !== 'object' || Array.isArray(values))
    throw changelogFailure('the configuration must be a mapping');
  return readValues(values as Record<string, unknown>);
};
