"""What a page may load: nothing of another host, and no script or style but our own files.

Plotly adds two style elements: an empty one, which it then fills rule by rule (that is allowed),
and the styles of maps, which no page of ours draws. Both are allowed by their contents, because
'unsafe-inline' would allow everybody's.
"""

PLOTLY_STYLES = (
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
    "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='",
)
POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "script-src": ["'self'"],
        "style-src": ["'self'", *PLOTLY_STYLES],
        "img-src": ["'self'", "data:", "blob:"],
        "connect-src": ["'self'"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}
