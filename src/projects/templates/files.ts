/** File templates, read from the package's folder `templates/` at each call, because they are rarely requested. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { notFound } from '../../platform/errors.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { packageRoot } from '../../platform/package_files.ts';

const root = join(packageRoot, 'templates');

const extensions = {
  dockerfiles: '.Dockerfile',
  gitignores: '.gitignore',
  gitlab_ci_ymls: '.gitlab-ci.yml',
} as const;

export type TemplateType = keyof typeof extensions;
export const templateTypes = Object.keys(extensions) as TemplateType[];

const listNames = async (type: TemplateType): Promise<string[]> => {
  const files = await readdir(join(root, type));
  return files.map((file) => file.slice(0, -extensions[type].length)).toSorted();
};

export const listTemplates = async (
  type: TemplateType,
  { limit, offset }: PageRequest,
): Promise<Page<{ key: string; name: string }>> => {
  const names = await listNames(type);
  const items = names.slice(offset, offset + limit).map((name) => ({ key: name, name }));
  return { items, total: names.length };
};

/** Reads a template. @throws Failure 404 for an unknown name, which never becomes part of a path */
export const readTemplate = async (
  type: TemplateType,
  name: string,
): Promise<{ name: string; content: string }> => {
  const names = await listNames(type);
  if (!names.includes(name)) throw notFound('Template');
  return { name, content: await readFile(join(root, type, name + extensions[type]), 'utf8') };
};

type LicenseFacts = {
  key: string;
  name: string;
  nickname: string | null;
  featured: boolean;
  html_url: string;
  source_url: string | null;
  description: string;
  conditions: string[];
  permissions: string[];
  limitations: string[];
};
export type License = LicenseFacts & { popular: boolean; content: string };

const readIndex = async (): Promise<LicenseFacts[]> =>
  JSON.parse(await readFile(join(root, 'licenses/index.json'), 'utf8')) as LicenseFacts[];

const withText = async (facts: LicenseFacts): Promise<License> => {
  const content = await readFile(join(root, 'licenses', `${facts.key}.txt`), 'utf8');
  return { ...facts, popular: facts.featured, content };
};

/** Lists licenses. @param popular true: only popular licenses */
export const listLicenses = async (
  popular: boolean,
  { limit, offset }: PageRequest,
): Promise<Page<License>> => {
  const licenses = (await readIndex()).filter(({ featured }) => featured || !popular);
  return {
    items: await Promise.all(licenses.slice(offset, offset + limit).map(withText)),
    total: licenses.length,
  };
};

/** Reads a license. @throws Failure 404 for an unknown key, which never becomes part of a path */
export const readLicense = async (key: string): Promise<License> => {
  const facts = (await readIndex()).find((license) => license.key === key.toLowerCase());
  if (facts === undefined) throw notFound('License');
  return await withText(facts);
};
