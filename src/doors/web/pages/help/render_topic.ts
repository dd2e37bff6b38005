/** Renders the texts of topics. The build does so for all of them; a program that runs from its sources when asked. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isBundled, packageRoot } from '../../../../platform/package_files.ts';
import { type Html, trusted } from '../../parts/html.ts';
import { wrapProse } from '../../parts/markdown.ts';
import { readTopic } from './read_topic.ts';
import type { Topic } from './topics.ts';

/** The folder of static pages, which the build writes. */
export const helpFolder = join(packageRoot, 'dist/help');

/** In that folder: rendered texts by the name of their topic. */
export const contentFile = 'content.json';

const options = {
  project: null,
  ref: null,
  path: null,
  baseUrl: '',
  isAbsolute: false,
  diagramServer: null,
  imageKey: null,
  hasReferences: false,
};

export const renderTopic = async (topic: Topic): Promise<Html> => {
  const { convert } = await import('../../../markdown/convert/convert.ts');
  const parts = convert(readTopic(topic).markdown, options);
  return wrapProse(parts.map((part) => (typeof part === 'string' ? part : part.plain)).join(''));
};

const rendered = new Map<string, Html>();

const readRendered = (): void => {
  const texts = JSON.parse(readFileSync(join(helpFolder, contentFile), 'utf8')) as { [name: string]: string };
  for (const [name, text] of Object.entries(texts)) rendered.set(name, trusted(text));
};

/** Returns the rendered text of a topic. */
export const loadContent = async (topic: Topic): Promise<Html> => {
  if (isBundled && rendered.size === 0) readRendered();
  const content = rendered.get(topic.name) ?? (await renderTopic(topic));
  rendered.set(topic.name, content);
  return content;
};
