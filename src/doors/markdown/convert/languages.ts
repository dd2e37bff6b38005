/** Names of languages, of files in them, and of the languages inside of others. */
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/** Other names and file extensions of a language of highlight.js, by its name. */
const otherNames: Record<string, string> = {
  actionscript: 'as',
  angelscript: 'asc',
  apache: 'apacheconf htaccess',
  applescript: 'osascript',
  arduino: 'ino',
  armasm: 'arm',
  asciidoc: 'adoc',
  autohotkey: 'ahk',
  axapta: 'x++',
  bash: 'sh zsh ksh ash bashrc zshrc profile envrc',
  brainfuck: 'bf',
  c: 'h',
  capnproto: 'capnp',
  clean: 'icl dcl',
  clojure: 'clj cljs cljc edn',
  cmake: 'cmakelists.txt cmake.in',
  coffeescript: 'coffee cson iced',
  cpp: 'cc cxx c++ hh hpp hxx h++ inl',
  crmsh: 'crm pcmk',
  crystal: 'cr',
  csharp: 'cs c#',
  css: 'pcss',
  delphi: 'pas dpr pascal dfm',
  diff: 'patch',
  django: 'jinja jinja2 j2',
  dns: 'zone bind',
  dockerfile: 'docker containerfile',
  dos: 'bat cmd batch',
  dust: 'dst',
  elixir: 'ex exs',
  erlang: 'erl hrl',
  excel: 'xls xlsx',
  fortran: 'f f90 f95 for',
  fsharp: 'fs fsx fsi f#',
  gams: 'gms',
  gauss: 'gss',
  gcode: 'nc',
  gherkin: 'feature',
  glsl: 'vert frag shader',
  go: 'golang',
  gradle: 'gradle',
  graphql: 'gql',
  groovy: 'jenkinsfile gvy',
  handlebars: 'hbs htmlbars',
  haskell: 'hs',
  haxe: 'hx',
  http: 'https',
  hy: 'hylang',
  inform7: 'i7',
  ini: 'toml cfg conf editorconfig gitconfig npmrc desktop systemd service',
  java: 'jsp',
  javascript: 'js jsx mjs cjs',
  'jboss-cli': 'wildfly-cli',
  json: 'jsonc json5 webmanifest geojson ipynb',
  julia: 'jl',
  'julia-repl': 'jldoctest',
  kotlin: 'kt kts ktm ktx',
  lasso: 'lassoscript',
  latex: 'tex sty cls',
  less: 'less',
  lisp: 'el emacs-lisp cl',
  livescript: 'ls',
  lua: 'pluto',
  makefile: 'make mk mak gnumakefile',
  markdown: 'md mkd mdown mkdown',
  mathematica: 'mma wl nb',
  matlab: 'octave',
  mercury: 'moo',
  mipsasm: 'mips',
  moonscript: 'moon',
  nestedtext: 'nt',
  nginx: 'nginxconf',
  nix: 'nixos',
  objectivec: 'objc m mm obj-c objective-c obj-c++ objective-c++',
  ocaml: 'ml mli',
  openscad: 'scad',
  perl: 'pl pm t',
  pf: 'pf.conf',
  pgsql: 'postgres postgresql',
  plaintext: 'text txt plain log',
  powershell: 'ps1 psm1 psd1 ps pwsh',
  processing: 'pde',
  prolog: 'pro',
  properties: 'env',
  protobuf: 'proto',
  puppet: 'pp',
  purebasic: 'pb pbi',
  python: 'py pyi pyw ipython sage gyp',
  'python-repl': 'pycon',
  q: 'k kdb',
  qml: 'qt',
  reasonml: 're',
  roboconf: 'graph instances',
  routeros: 'mikrotik',
  ruby: 'rb gemspec podspec rake gemfile rakefile vagrantfile podfile brewfile irb thor ru',
  rust: 'rs',
  scala: 'sc sbt',
  scheme: 'scm rkt',
  scilab: 'sci',
  shell: 'console shellsession shell-session',
  smalltalk: 'st',
  sml: 'sig',
  stan: 'stanfuncs',
  stata: 'do ado',
  step21: 'p21 step stp',
  stylus: 'styl',
  tcl: 'tk',
  twig: 'twig craftcms',
  typescript: 'ts tsx mts cts',
  vbnet: 'vb',
  vbscript: 'vbs',
  verilog: 'v sv svh',
  vhdl: 'vhd',
  x86asm: 'asm nasm',
  xl: 'tao',
  xml: 'html htm xhtml svg rss atom xsd xsl xslt plist vue svelte csproj xaml xjb wsf',
  xquery: 'xpath xq xqm xqy',
  yaml: 'yml',
  zephir: 'zep',
};

const byOtherName = new Map(
  Object.entries(otherNames).flatMap(([name, others]) => others.split(' ').map((other) => [other, name])),
);

/** Languages that occur inside of others. */
export const embeddedLanguages: Record<string, string[]> = {
  asciidoc: ['xml'],
  django: ['xml'],
  dockerfile: ['bash'],
  erb: ['xml', 'ruby'],
  haml: ['ruby'],
  handlebars: ['xml'],
  javascript: ['xml', 'css', 'graphql'],
  markdown: ['xml'],
  'php-template': ['xml', 'php'],
  'python-repl': ['python'],
  shell: ['bash'],
  twig: ['xml'],
  typescript: ['xml', 'css', 'graphql'],
  xml: ['css', 'javascript'],
};

/**
 * Returns the language of a name or of a file: `js`, `JavaScript`, `src/main.ts`, `Makefile`. It may be unknown to
 * highlight.js.
 */
export const toLanguage = (languageOrFile: string): string => {
  const name = languageOrFile.slice(languageOrFile.lastIndexOf('/') + 1).toLowerCase();
  const whole = byOtherName.get(name);
  if (whole !== undefined) return whole;
  const extension = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1) : name;
  return byOtherName.get(extension) ?? extension;
};

const fileEnding = /\.js$/;
let available: Set<string> | null = null;

const listAvailable = (): Set<string> => {
  const folder = dirname(createRequire(import.meta.url).resolve('highlight.js/lib/languages/json'));
  const files = readdirSync(folder).filter((file) => fileEnding.test(file) && !file.endsWith('.js.js'));
  return new Set(files.map((file) => file.replace(fileEnding, '')));
};

/** Returns whether highlight.js knows a language that `toLanguage` returned, without loading it. */
export const canHighlight = (language: string): boolean =>
  language !== 'plaintext' && (available ??= listAvailable()).has(language);
