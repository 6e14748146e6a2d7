/** Headroom's own words for a pull request, as Handlebars templates: an operator's take their place one by one. */

/** The description, in GitHub's Markdown; its names are in pull-request-body.ts. */
const BODY = `## Quota Resize Recommendation

**Namespace:** {{code namespace}}{{br}}
**Quota{{#if several}}s{{/if}}:** {{#each quotas}}{{#unless @first}}, {{/unless}}{{code this}}{{/each}}{{br}}
**Cluster:** {{code cluster}}{{br}}
**Decided:** {{decidedAt}}{{br}}
**Changed:** {{#each files}}{{#unless @first}}, {{/unless}}{{code this}}{{/each}}

| {{#if several}}Quota | {{/if}}Resource | Used | Current | Proposed | Reason |
|{{#if several}}---|{{/if}}---|---|---|---|---|
{{#each changes}}
| {{#if @root.several}}{{code quota}} | {{/if}}{{code resource}} | {{code used}} | {{code from}} | **{{code to}}** | {{reason}} |
{{/each}}
{{#if leftAlone}}

Left alone, because Git holds enough already: {{#each leftAlone}}{{#unless @first}}, {{/unless}}{{#if @root.several}}{{code quota}} {{/if}}{{code resource}} ({{code value}}){{/each}}.
{{/if}}
{{#if leftOut}}

Needed for the same workloads, and not in this pull request:

{{#each leftOut}}
- quota {{code quota}}: {{why}}
{{/each}}
{{/if}}

### Evidence

{{#each evidence}}
- {{this}}
{{/each}}
{{#if moreEvidence}}
- and {{moreEvidence}} more
{{/if}}
{{#each found}}
- Quota {{code quota}} is {{how}}.
{{/each}}

{{#if notes}}
### What the policy changed

{{#each notes}}
- {{this}}
{{/each}}

{{/if}}
{{#if approval}}
**An approval is needed** before Headroom merges this: {{approval}}
{{else}}
{{#if approvedBy}}
Approved by {{approvedBy}}.
{{else}}
No approval beyond the rules of this repository is needed.
{{/if}}
{{/if}}

### What happens next

{{#each next}}
- {{this}}
{{/each}}

### What you can do

| To | Do |
|---|---|
{{#if approval}}
| approve | \`headroom approve {{commandArgument}}\`, or send the update \`approve\` to the workflow in the Temporal UI |
{{/if}}
| refuse | close this pull request, or \`headroom reject {{commandArgument}} --reason "…"\` |
| hold everything about this quota | \`headroom pause {{commandArgument}}\`, and later \`headroom resume {{commandArgument}}\` |
| see why | \`headroom explain quota-resize {{commandArgument}}\` |
| opt out | set the annotation \`resizer.io/enabled: "false"\` on the namespace {{code namespace}}: its quotas are left alone until it is taken off again |

Workflow: {{#if workflowUrl}}[\`{{workflowId}}\`]({{workflowUrl}}){{else}}\`{{workflowId}}\`{{/if}}

<details><summary>Policy in force</summary>

| Setting | Value | From |
|---|---|---|
{{#each policy}}
| \`{{name}}\` | {{value}} | {{from}} |
{{/each}}

</details>
`.replaceAll(
  // Two spaces at the end of a line are a line break, which editors like to take away.
  '{{br}}',
  '  ',
);

export const builtInTemplates = {
  title: 'Raise quota {{target}}: {{summary}}',
  body: BODY,
  commit: [
    'chore(quota): raise {{target}}: {{summary}}',
    '',
    '{{#each changes}}',
    '{{#if @root.several}}{{quota}} {{/if}}{{resource}}: {{from}} → {{to}} ({{reason}})',
    '{{/each}}',
  ].join('\n'),
  branch: 'headroom/{{cluster}}/{{namespace}}/{{quota}}/{{id}}',
} as const;
