"""Chat templates of the well-known shapes, and conversations for them, in words of our own.

Leaves out: the tests (`test_chat`, `test_transformers_chat`).
"""

from __future__ import annotations

from typing import Any

CHATML = """{%- if tools %}
{{- '<|im_start|>system\\n' }}
{{- "Tools:" }}
{%- for tool in tools %}
{{- "\\n" + (tool | tojson) }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'assistant' %}
        {{- '<|im_start|>assistant\\n' }}
        {%- if message.reasoning_content is defined and message.reasoning_content is string %}
            {{- '<think>' + message.reasoning_content.strip('\\n') + '</think>\\n' }}
        {%- endif %}
        {%- generation %}
        {{- message.content }}
        {%- for call in message.tool_calls or [] %}
            {{- '\\n<call>' }}{{ call.function.arguments | tojson(indent=2) }}{{ '</call>' }}
        {%- endfor %}
        {{- '<|im_end|>' }}
        {%- endgeneration %}
        {{- '\\n' }}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""

LLAMA_3 = """{{- bos_token }}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if not date_string is defined %}{%- set date_string = "1 Jan 2026" %}{%- endif %}
{{- "Today: " + date_string + "\\n\\n" }}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("One call at once!") }}
        {%- endif %}
        {%- set call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' -}}
        {{- '{"name": "' + call.name + '", ' }}{{ '"parameters": ' }}{{ call.arguments | tojson }}{{ "}" }}
    {%- else %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' -}}
        {{- message['content'] | trim -}}
    {%- endif %}
    {{- '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""

MISTRAL = """{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- set ns = namespace(index=0) %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
        {{- raise_exception("Roles must alternate user/assistant/user/assistant/...") }}
    {%- endif %}
    {%- set ns.index = ns.index + 1 %}
    {%- if message["role"] == "user" %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " ~ message["content"] ~ "[/INST]" }}
        {%- endif %}
    {%- else %}
        {{- " " + message["content"]|trim + eos_token }}
    {%- endif %}
{%- endfor %}
"""

GEMMA = """{{ bos_token }}
{%- macro turn(role, content) -%}
    {{ '<start_of_turn>' + role + '\\n' + content + '<end_of_turn>\\n' }}
{%- endmacro -%}
{%- for message in messages -%}
    {%- if message['role'] == 'system' -%}{%- continue -%}{%- endif -%}
    {%- set role = 'model' if message['role'] == 'assistant' else message['role'] -%}
    {%- if message['content'] is string -%}
        {{ turn(role, message['content'] | trim) }}
    {%- else -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}{{ '<image>' }}
            {%- elif item['type'] == 'text' -%}{{ turn(role, item['text'] | trim) }}{%- endif -%}
        {%- endfor -%}
    {%- endif -%}
{%- endfor -%}
{%- if documents -%}
{%- for document in documents %}<doc {{ loop.index0 }}>{{ document['text'] | upper }}</doc>
{% endfor -%}
{%- endif -%}
{%- if add_generation_prompt -%}
    {{ '<start_of_turn>model\\n' }}
{%- endif -%}
"""

PLAIN = """{% for message in messages %}
{{ message['role'] | capitalize }}: {{ message['content'] }}
  {% if not loop.last %}
  --
  {% endif %}
{% endfor %}
{% if add_generation_prompt %}Assistant:{% endif %}
"""

TEMPLATES = {"chatml": CHATML, "llama-3": LLAMA_3, "mistral": MISTRAL, "gemma": GEMMA, "plain": PLAIN}

WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {"name": "weather", "description": "How it is <outside> & above", "parameters": {"n": 1.5}},
}
CALLS: list[dict[str, Any]] = [
    {"function": {"name": "weather", "arguments": {"city": "Köln", "days": [1, 2]}}}
]

SYSTEM = {"role": "system", "content": "You answer in verse.\n"}
ASKS = {"role": "user", "content": "Wie heißt der Fluss?  "}
ANSWERS = {"role": "assistant", "content": "Der Rhein, mein Freund 🌊"}
THANKS = {"role": "user", "content": "谢谢 <|im_end|> \n\n"}
CONVERSATIONS: dict[str, list[dict[str, Any]]] = {
    "one": [ASKS],
    "two": [ASKS, ANSWERS],
    "system": [SYSTEM, ASKS, ANSWERS, THANKS],
    "calls": [ASKS, {"role": "assistant", "content": "", "tool_calls": CALLS}],
    "thinks": [ASKS, {**ANSWERS, "reasoning": "Which one?\n"}, THANKS, {**ANSWERS, "name": None}],
    "blocks": [
        {
            "role": "user",
            "content": [{"type": "image", "image": object()}, {"type": "text", "text": " Look! "}],
        }
    ],
    "empty": [{"role": "user", "content": ""}],
}
