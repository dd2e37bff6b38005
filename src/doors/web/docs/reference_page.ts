/** The API reference: renders the OpenAPI document as HTML, one page for each area. */
import type { OpenApi, Operation } from '../../../platform/http/openapi/document.ts';
import type { Schema } from '../../../platform/http/openapi/schemas.ts';
import { capitalize } from '../../../platform/unicode.ts';
import { type Field, exampleCall, fieldsOf } from './example_call.ts';
import { assets } from '../assets.ts';
import { type Html, html } from '../parts/html.ts';

type Entry = { method: string; path: string; operation: Operation };
type Area = { name: string; entries: Entry[] };

const areasOf = ({ tags, paths }: OpenApi): Area[] => {
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  return tags.map(({ name }) => ({
    name,
    entries: entries.filter((one) => one.operation.tags.includes(name)),
  }));
};

const titleOf = (area: string): string => capitalize(area.replaceAll('_', ' '));

const joined = (parts: Html[], between: string): Html[] =>
  parts.flatMap((part, index) => (index === 0 ? [part] : [html`${between}`, part]));

/* ---- types ---- */

/** Path of the page of an area; null: the overview. */
const docsPath = (area: string | null): string =>
  area === null ? '/-/docs/api' : `/-/docs/api/${encodeURIComponent(area)}`;

const referred = (schema: Schema): string | undefined =>
  (schema['$ref'] as string | undefined)?.replace('#/components/schemas/', '');

const formats: Record<string, string> = { 'date-time': 'time', date: 'date' };

const typeOf = (schema: Schema): Html => {
  const name = referred(schema);
  if (name !== undefined) return html`<a href="#shape-${name}">${name}</a>`;
  const {
    anyOf,
    enum: words,
    items,
    format,
  } = schema as {
    anyOf?: Schema[];
    enum?: (string | null)[];
    items?: Schema;
    format?: string;
  };
  if (anyOf !== undefined) return html`${joined(anyOf.map(typeOf), ' or ')}`;
  if (words !== undefined)
    return html`${joined(
      words.map((word) => html`<code>${word ?? 'null'}</code>`),
      ' ',
    )}`;
  if (items !== undefined) return html`array of ${typeOf(items)}`;
  const types = [schema['type'] ?? 'JSON'].flat().map(String);
  return html`${types.map((type) => (type === 'string' ? (formats[format ?? ''] ?? type) : type)).join(' or ')}`;
};

const defaultOf = ({ default: value }: Schema): Html | null =>
  value === undefined ? null : html` (default <code>${JSON.stringify(value).replaceAll('"', '')}</code>)`;

/* ---- operations ---- */

const fieldRow = ({ name, in: place, required, schema, meaning }: Field): Html => html`
<tr>
<th scope="row"><code>${name}</code>${required && html` <em>required</em>`}</th>
<td>${place}</td>
<td>${typeOf(schema)}${defaultOf(schema)}</td>
<td>${meaning}</td>
</tr>`;

const fieldTable = (fields: Field[]): Html | null =>
  fields.length === 0
    ? null
    : html`
<div class="wide" role="region" aria-label="Parameters" tabindex="0"><table>
<thead><tr><th scope="col">Parameter</th><th scope="col">In</th><th scope="col">Type</th>
<th scope="col">Meaning</th></tr></thead>
<tbody>${fields.map(fieldRow)}
</tbody></table></div>`;

const answerOf = ({ responses }: Operation): Html => {
  const [status = '', response = { description: '' }] = Object.entries(responses)[0] ?? [];
  const content = 'content' in response ? response.content?.['application/json'] : undefined;
  if (content === undefined) return html`<p>Answers ${status} without a body.</p>`;
  return html`<p>Answers ${status}: ${typeOf(content.schema)}${'headers' in response && ', in pages'}.</p>`;
};

const accessOf = ({ security, description }: Operation): string => {
  if (security?.length === 0) return 'Open to anyone.';
  if (security !== undefined) return 'Open to anyone, for what everybody may see.';
  return description ?? 'Signed-in users.';
};

const operationPart = (document: OpenApi, base: string, { method, path, operation }: Entry): Html => {
  const fields = fieldsOf(document, operation);
  const signsIn = operation.security?.length !== 0;
  return html`
<section aria-labelledby="${operation.operationId}">
<h2 id="${operation.operationId}"><code class="method">${method}</code> <code>${path}</code></h2>
<p>${operation.summary}. <span class="access">${accessOf(operation)}</span></p>
${fieldTable(fields)}
${answerOf(operation)}
<pre tabindex="0" aria-label="Example"><code>${exampleCall(base, { method, path, fields, signsIn })}</code></pre>
</section>`;
};

/* ---- shapes ---- */

const shapePart = ([name, schema]: [string, Schema]): Html => {
  const properties = Object.entries((schema['properties'] as { [name: string]: Schema } | undefined) ?? {});
  const required = new Set((schema['required'] as string[] | undefined) ?? []);
  return html`
<section aria-labelledby="shape-${name}">
<h3 id="shape-${name}">${name}</h3>
<div class="wide" role="region" aria-label="Fields of ${name}" tabindex="0"><table>
<thead><tr><th scope="col">Field</th><th scope="col">Type</th></tr></thead>
<tbody>${properties.map(
    ([field, type]) => html`
<tr><th scope="row"><code>${field}</code>${!required.has(field) && html` <em>not always</em>`}</th>
<td>${typeOf(type)}</td></tr>`,
  )}
</tbody></table></div>
</section>`;
};

/** Response shapes; request bodies are shown as parameters. */
const shapesOf = ({ components }: OpenApi): [string, Schema][] =>
  Object.entries(components.schemas).filter(([name]) => !name.endsWith('Body'));

/** Collects the names of the shapes that these operations answer with, and of shapes nested in them. */
const shapesIn = ({ components }: OpenApi, entries: Entry[]): Set<string> => {
  const names = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const name = referred(value as Schema);
    if (name !== undefined && !names.has(name)) {
      names.add(name);
      collect(components.schemas[name]);
    }
    for (const inner of Object.values(value)) collect(inner);
  };
  for (const { operation } of entries) collect([operation.parameters, operation.responses]);
  return names;
};

/* ---- the pages ---- */

const contents = (areas: Area[], current: string | null): Html => html`
<nav aria-label="Contents">
<ul>
<li><a href="${docsPath(null)}"${current === null && html` aria-current="page"`}>Overview</a></li>
${areas.map(
  ({ name, entries }) => html`
<li><a href="${docsPath(name)}"${name === current && html` aria-current="page"`}>${titleOf(name)}</a>
${
  name === current &&
  html`<ul>
${entries.map(
  ({ method, path, operation }) =>
    html`<li><a href="#${operation.operationId}"><code>${method} ${path}</code></a></li>\n`,
)}</ul>`
}</li>`,
)}
</ul>
</nav>`;

const overview = (areas: Area[], description: string): Html => html`
${description.split('\n\n').map((text) => html`<p>${inlineCode(text)}</p>\n`)}
<h2 id="areas">Areas</h2>
<ul>
${areas.map(
  ({ name, entries }) =>
    html`<li><a href="${docsPath(name)}">${titleOf(name)}</a> (${entries.length} endpoints)</li>\n`,
)}</ul>`;

const areaPage = (document: OpenApi, base: string, area: Area): Html => {
  const shapes = shapesIn(document, area.entries);
  return html`
${area.entries.map((entry) => operationPart(document, base, entry))}
${
  shapes.size > 0 &&
  html`<h2 id="shapes">Shapes of answers</h2>
${shapesOf(document)
  .filter(([name]) => shapes.has(name))
  .map(shapePart)}`
}`;
};

/**
 * One page of the API reference: the overview, or an area with the shapes of its responses.
 * @param base URL of the API, for the examples: `https://host/api/v4`
 * @returns null if the area does not exist
 */
export const docsPage = (document: OpenApi, base: string, current: string | null): string | null => {
  const areas = areasOf(document);
  const area = areas.find(({ name }) => name === current);
  if (current !== null && area === undefined) return null;
  const { title, version, description } = document.info;
  const heading = area === undefined ? title : titleOf(area.name);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${area === undefined ? html`${title} ${version}` : html`${heading} · ${title} ${version}`}</title>
<link rel="stylesheet" href="${assets().docs}">
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header><p><strong>${title}</strong> ${version} · <a href="${base}/openapi.json">OpenAPI document</a></p></header>
${contents(areas, current)}
<main id="main">
<h1>${heading}</h1>
${area === undefined ? overview(areas, description) : areaPage(document, base, area)}
</main>
</body>
</html>
`.text;
};

/** Renders text between backquotes as code. */
const inlineCode = (text: string): Html[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
