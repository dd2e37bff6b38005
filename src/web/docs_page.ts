/** The API's reading page: the OpenAPI document as HTML. */
import type { OpenApi, Operation } from '../http/openapi.ts';
import type { Schema } from '../http/openapi_schema.ts';
import { type Field, exampleCall, fieldsOf } from './docs_example.ts';
import { docsStyle } from './docs_style.ts';
import { type Html, html } from './html.ts';

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

const titleOf = (area: string): string => area.charAt(0).toUpperCase() + area.slice(1).replaceAll('_', ' ');

const joined = (parts: Html[], between: string): Html[] =>
  parts.flatMap((part, index) => (index === 0 ? [part] : [html`${between}`, part]));

/* ---- types ---- */

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
<h3 id="${operation.operationId}"><code class="method">${method}</code> <code>${path}</code></h3>
<p>${operation.summary}. <span class="access">${accessOf(operation)}</span></p>
${fieldTable(fields)}
${answerOf(operation)}
<pre tabindex="0" aria-label="Example"><code>${exampleCall(base, { method, path, fields, signsIn })}</code></pre>
</section>`;
};

const areaPart = (document: OpenApi, base: string, { name, entries }: Area): Html => html`
<h2 id="area-${name}">${titleOf(name)}</h2>
${entries.map((entry) => operationPart(document, base, entry))}`;

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

/** A body's schema is shown as the parameters of its operation. */
const shapesOf = ({ components }: OpenApi): [string, Schema][] =>
  Object.entries(components.schemas).filter(([name]) => !name.endsWith('Body'));

/* ---- the page ---- */

const contents = (areas: Area[]): Html => html`
<nav aria-label="Contents">
<ul>
${areas.map(
  ({ name, entries }) => html`
<li><details><summary>${titleOf(name)}</summary><ul>
<li><a href="#area-${name}">All of ${titleOf(name).toLowerCase()}</a></li>
${entries.map(
  ({ method, path, operation }) =>
    html`<li><a href="#${operation.operationId}"><code>${method} ${path}</code></a></li>\n`,
)}</ul></details></li>`,
)}
<li><a href="#shapes">Shapes of answers</a></li>
</ul>
</nav>`;

/** @param base URL of the API, for the examples: `https://host/api/v4` */
export const docsPage = (document: OpenApi, base: string): string => {
  const areas = areasOf(document);
  const { title, version, description } = document.info;
  const paragraphs = description.split('\n\n').map((text) => html`<p>${inlineCode(text)}</p>\n`);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} ${version}</title>
<style>${docsStyle}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header><p><strong>${title}</strong> ${version} · <a href="${base}/openapi.json">OpenAPI document</a></p></header>
${contents(areas)}
<main id="main">
<h1>${title}</h1>
${paragraphs}
${areas.map((area) => areaPart(document, base, area))}
<h2 id="shapes">Shapes of answers</h2>
${shapesOf(document).map(shapePart)}
</main>
</body>
</html>
`.text;
};

/** Text with words between backquotes. */
const inlineCode = (text: string): Html[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
